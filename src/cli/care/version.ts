// `hermes version`: the version with what an issue report needs.
import { describeInstallation, installationText } from "../../install/api/installation.ts";
import { type CliCommand, JSON_OPTION } from "../command.ts";

export const versionCommand: CliCommand = {
  name: "version",
  summary: "Print the version, and where the program and its home are",
  maxPositionals: 0,
  options: JSON_OPTION,
  run: async ({ home, terminal, values }) => {
    const installation = describeInstallation(home);
    const facts = {
      version: installation.version,
      node: process.version,
      system: `${process.platform} ${process.arch}`,
      installed: installationText(installation),
      home: home.path,
      profile: home.profile,
    };
    if (values.json) {
      terminal.out(JSON.stringify({ ...facts, kind: installation.kind, root: installation.root }, null, 2));
      return 0;
    }
    terminal.out(`hermes ${facts.version}`);
    terminal.out(`Node       ${facts.node} on ${facts.system}`);
    terminal.out(`Installed  ${facts.installed}`);
    terminal.out(`Home       ${facts.home}${facts.profile === "default" ? "" : ` (profile ${facts.profile})`}`);
    terminal.out("Newer one? hermes update --check");
    return 0;
  },
};
