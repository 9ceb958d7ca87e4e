// Parses and writes the named sections of a summary, in order.

export interface Section {
  readonly heading: string;
  readonly text: string;
}

/** Sections that are copied by the program and never rewritten by a model. */
export const VERBATIM = {
  request: "Original Request",
  words: "Word for Word",
  todos: "Open Todos",
  memory: "Memory Notes",
} as const;

/** Splits at `## ` lines; text before the first heading becomes a section without one. */
export function parseSections(body: string): Section[] {
  const sections: Section[] = [];
  let heading = "";
  let lines: string[] = [];
  const flush = () => {
    const text = lines.join("\n").trim();
    if (text !== "" || heading !== "") sections.push({ heading, text });
    lines = [];
  };
  for (const line of body.split("\n")) {
    const match = /^## +(.+?)\s*$/.exec(line);
    if (match === null) {
      lines.push(line);
      continue;
    }
    flush();
    heading = match[1] ?? "";
  }
  flush();
  return sections;
}

export function writeSections(sections: readonly Section[]): string {
  return sections
    .filter((section) => section.text !== "")
    .map((section) => (section.heading === "" ? section.text : `## ${section.heading}\n${section.text}`))
    .join("\n\n");
}

const PROGRAM_SECTIONS: readonly string[] = Object.values(VERBATIM);

/** The part that a model wrote, without the sections that are copied by the program. */
export function modelPart(body: string): string {
  return writeSections(parseSections(body).filter((section) => !PROGRAM_SECTIONS.includes(section.heading)));
}

export function sectionText(body: string, heading: string): string {
  return parseSections(body).find((section) => section.heading === heading)?.text ?? "";
}
