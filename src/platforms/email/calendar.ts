// Calendar invitations in e-mails as text for the model.

const LABELS: readonly (readonly [string, string])[] = [
  ["SUMMARY", "Event"],
  ["DTSTART", "Starts"],
  ["DTEND", "Ends"],
  ["DURATION", "Lasts"],
  ["RRULE", "Repeats"],
  ["LOCATION", "Place"],
  ["ORGANIZER", "Organiser"],
  ["STATUS", "Status"],
  ["DESCRIPTION", "Description"],
];

const METHODS: { readonly [method: string]: string } = {
  REQUEST: "Calendar invitation",
  CANCEL: "Calendar cancellation",
  REPLY: "Answer to a calendar invitation",
};

interface Property {
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
}

/** Long lines continue on the next one after a blank. */
function readProperties(text: string): Property[] {
  const lines = text.replaceAll(/\r?\n[ \t]/g, "").split(/\r?\n/);
  return lines.flatMap((line) => {
    const match = /^([A-Za-z-]+)((?:;[^:"]*(?:"[^"]*"[^:"]*)*)?):(.*)$/.exec(line);
    return match ? [{ name: (match[1] ?? "").toUpperCase(), parameters: match[2] ?? "", value: match[3] ?? "" }] : [];
  });
}

function plainText(value: string): string {
  return value
    .replaceAll(/\\n/gi, "\n")
    .replaceAll(/\\([,;\\])/g, "$1")
    .trim();
}

/** `20270115T090000Z` as `2027-01-15 09:00 UTC`; with its zone when one is named. */
function formatTime({ value, parameters }: Property): string {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{2}(Z)?)?$/.exec(value.trim());
  if (!match) return value;
  const [, year, month, day, hour, minute, utc] = match;
  const zone = utc ? " UTC" : (/TZID="?([^;:"]+)/i.exec(parameters)?.[1] ?? "").replace(/^(?=.)/, " ");
  return hour === undefined ? `${year}-${month}-${day}` : `${year}-${month}-${day} ${hour}:${minute}${zone}`;
}

function formatProperty(property: Property): string {
  if (property.name === "DTSTART" || property.name === "DTEND") return formatTime(property);
  const named = /CN="?([^;:"]+)/i.exec(property.parameters)?.[1];
  const value = plainText(property.value).replace(/^mailto:/i, "");
  return named && property.name === "ORGANIZER" ? `${named} <${value}>` : value;
}

function eventText(properties: readonly Property[]): string {
  const attendees = properties.filter(({ name }) => name === "ATTENDEE").length;
  const lines = LABELS.flatMap(([name, label]) => {
    const property = properties.find((each) => each.name === name);
    return property && property.value.trim() !== "" ? [`${label}: ${formatProperty(property)}`] : [];
  });
  return [...lines, ...(attendees > 0 ? [`Attendees: ${attendees}`] : [])].join("\n");
}

/** The events of a calendar file; empty when it has none. */
export function describeCalendar(text: string): string {
  const properties = readProperties(text);
  const events: Property[][] = [];
  let open: Property[] | undefined;
  let depth = 0;
  for (const property of properties) {
    const { name, value } = property;
    if (name === "BEGIN" && value.toUpperCase() === "VEVENT") open = [];
    else if (name === "END" && value.toUpperCase() === "VEVENT") {
      if (open) events.push(open);
      open = undefined;
    } else if (name === "BEGIN") depth += 1;
    else if (name === "END") depth = Math.max(0, depth - 1);
    // Parts inside an event, such as alarms, have properties of their own.
    else if (open && depth <= 1) open.push(property);
  }
  if (events.length === 0) return "";
  const method =
    properties
      .find(({ name }) => name === "METHOD")
      ?.value.trim()
      .toUpperCase() ?? "";
  return [`[${METHODS[method] ?? "Calendar entry"}]`, ...events.slice(0, 10).map(eventText)].join("\n");
}
