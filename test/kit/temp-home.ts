// A fresh home per test: nothing touches the real one.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeLlm } from "../servers/fake-llm.ts";
import { tempDir } from "./temp-dir.ts";

export interface TempHome {
  readonly path: string;
  /** Writes config.yaml for a scripted model server, with further lines below. */
  useModel(llm: FakeLlm, more?: string): void;
  remove(): void;
}

export function tempHome(): TempHome {
  const path = tempDir("hermes-home-");
  return {
    path,
    useModel: (llm, more = "") => {
      const model = `model:\n  default: test-model\n  provider: custom\n  base_url: ${llm.url}/v1\n  context_length: 128000\n`;
      writeFileSync(join(path, "config.yaml"), `${model}${more}`);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
