// Rules for the system: services, processes, scheduled jobs, containers, disks, accounts, and Hermes itself.

import { argTexts, hasFlag, type Invocation, operands, programName } from "../shell/shell-types.ts";
import { paths, type ShellRule } from "./rule.ts";

const first = (invocation: Invocation): string => operands(invocation)[0]?.text ?? "";
const names = (invocation: Invocation): string[] =>
  operands(invocation)
    .slice(1)
    .map((word) => word.text);
const OWN = /hermes|gateway|cli\.py/i;

const forcesKill = (invocation: Invocation): boolean =>
  argTexts(invocation).some(
    (text, at, all) =>
      /^-(?:9|KILL|SIGKILL|s(?:9|KILL|SIGKILL)|-signal=?(?:9|KILL)?)$/i.test(text) ||
      (/^(?:-s|--signal)$/.test(text) && /^(?:9|KILL|SIGKILL)$/i.test(all[at + 1] ?? "")) ||
      text === "-r",
  );

export const SYSTEM_RULES: readonly ShellRule[] = [
  {
    id: "stop_service",
    category: "service",
    level: "dangerous",
    reason: "stops or changes a system service",
    legacy: ["stop/restart system service", "stop/disable system service"],
    programs: ["systemctl", "service", "rc-service", "launchctl", "brew", "snap"],
    match: (invocation) => {
      const texts = operands(invocation).map((word) => word.text);
      const verb =
        /^(?:stop|restart|disable|mask|kill|isolate|bootout|unload|remove|enable|try-restart|reload-or-restart|edit)$/;
      if (programName(invocation) === "brew")
        return texts[0] === "services" && verb.test(texts[1] ?? "") ? texts.slice(2) : null;
      return texts.slice(0, 2).some((text) => verb.test(text)) ? names(invocation) : null;
    },
  },
  {
    id: "force_kill",
    category: "service",
    level: "dangerous",
    reason: "kills processes by name without warning",
    legacy: ["force kill processes"],
    programs: ["pkill", "killall", "skill"],
    match: (invocation) => (forcesKill(invocation) ? operands(invocation).map((word) => word.text) : null),
  },
  {
    id: "kill_self",
    category: "self",
    level: "dangerous",
    reason: "stops Hermes itself",
    legacy: ["kill hermes/gateway process (self-termination)", "kill process via pgrep expansion (self-termination)"],
    programs: ["pkill", "killall", "kill"],
    match: (invocation) => {
      if (programName(invocation) === "kill")
        return operands(invocation).some((word) => /^(?:pgrep|pidof|ps)$/.test(word.from ?? "")) ? [] : null;
      return argTexts(invocation).some((text) => OWN.test(text)) ? ["hermes"] : null;
    },
  },
  {
    id: "hermes_control",
    category: "self",
    level: "dangerous",
    reason: "changes how Hermes runs or what it allows",
    legacy: [
      "stop/restart hermes gateway (kills running agents)",
      "hermes update (restarts gateway, kills running agents)",
    ],
    programs: ["hermes"],
    match: (invocation) => {
      const [verb = "", sub = ""] = operands(invocation).map((word) => word.text);
      const changes =
        (verb === "gateway" && /^(?:stop|restart|install|uninstall|run|start)$/.test(sub)) ||
        /^(?:update|uninstall|pairing|auth|login|logout|import|setup)$/.test(verb) ||
        (/^(?:config|tools|skills|plugins|mcp|cron|hooks|profile|memory)$/.test(verb) &&
          !/^(?:show|list|get|path|check|search|view|status|info|inspect|history|next|)$/.test(sub)) ||
        argTexts(invocation).some((text) => text === "--yolo" || text === "--accept-hooks");
      return changes ? [verb] : null;
    },
  },
  {
    id: "yolo_environment",
    category: "self",
    level: "dangerous",
    reason: "turns off the approvals of Hermes",
    match: (invocation) =>
      invocation.assigned.some((name) =>
        /^(?:HERMES_YOLO_MODE|HERMES_ACCEPT_HOOKS|HERMES_REDACT_SECRETS|HERMES_WRITE_SAFE_ROOT|_HERMES_FORCE_\w+)$/.test(
          name,
        ),
      ) ||
      argTexts(invocation).some((text) =>
        /^(?:HERMES_YOLO_MODE|HERMES_ACCEPT_HOOKS|HERMES_REDACT_SECRETS|_HERMES_FORCE_\w+)=/.test(text),
      )
        ? ["approvals"]
        : null,
  },
  {
    id: "sudo_flags",
    category: "sudo",
    level: "dangerous",
    reason: "gives sudo a password or a shell",
    legacy: ["sudo with privilege flag (stdin/askpass/shell/list)"],
    programs: ["sudo"],
    match: (invocation) => {
      const texts = argTexts(invocation);
      for (let at = 0; at < texts.length; at++) {
        const text = texts[at] ?? "";
        if (/^[A-Za-z_]\w*=/.test(text)) continue;
        if (!text.startsWith("-") || text === "--") return null;
        if (/^--(?:stdin|askpass|shell|login)$/.test(text)) return [text];
        // Letters after an option that takes a value are that value.
        const flags = text.startsWith("--") ? "" : (/^-([A-Za-z]*?)(?=[CDghpRrtTUu]|$)/.exec(text)?.[1] ?? "");
        if (/[SsAai]/.test(flags)) return [`-${flags}`];
        const takes =
          /^-[A-Za-z]*?[CDghpRrtTUu]$|^--(?:user|group|prompt|host|chdir|chroot|role|type|other-user|close-from|command-timeout)$/;
        if (takes.test(text)) at++;
      }
      return null;
    },
  },
  {
    id: "root_shell",
    category: "sudo",
    level: "dangerous",
    reason: "opens a shell as another user",
    programs: ["su"],
    match: (invocation) =>
      argTexts(invocation).some((text) => /^(?:-c|--command|--help|--version)/.test(text)) ? null : ["su"],
  },
  {
    id: "loader_environment",
    category: "execution",
    level: "dangerous",
    reason: "makes other programs run its code",
    match: (invocation) =>
      invocation.assigned.some((name) => /^(?:PROMPT_COMMAND|BASH_ENV|LD_PRELOAD|DYLD_INSERT_LIBRARIES)$/.test(name))
        ? ["environment"]
        : null,
  },
  {
    id: "schedule",
    category: "persistence",
    level: "dangerous",
    reason: "schedules something to run later or at every start",
    programs: ["crontab", "at", "batch", "atrm", "update-rc.d", "chkconfig", "systemd-run", "launchctl", "schtasks"],
    match: (invocation) => {
      const texts = argTexts(invocation);
      if (programName(invocation) === "crontab")
        return texts.includes("-l") && !texts.includes("-r") ? null : ["crontab"];
      return /^(?:list|print|-l|-q|blame)$/.test(texts[0] ?? "") ? null : [programName(invocation)];
    },
  },
  {
    id: "accounts",
    category: "permissions",
    level: "dangerous",
    reason: "changes accounts, permissions or system settings",
    programs: [
      "useradd",
      "userdel",
      "usermod",
      "adduser",
      "deluser",
      "groupadd",
      "gpasswd",
      "passwd",
      "chpasswd",
      "visudo",
      "dscl",
      "chsh",
      "setcap",
      "iptables",
      "nft",
      "ufw",
      "setenforce",
      "sysctl",
      "modprobe",
      "rmmod",
      "insmod",
      "mount",
      "umount",
    ],
    match: (invocation) =>
      /^(?:-l|--list|-L|-S|status|list|-h|--help|-a|-n)?$/.test(argTexts(invocation)[0] ?? "")
        ? null
        : [programName(invocation)],
  },
  {
    id: "copy_disk",
    category: "disk",
    level: "dangerous",
    reason: "copies raw data",
    legacy: ["disk copy"],
    programs: ["dd"],
    match: (invocation, host) =>
      paths(
        operands(invocation)
          .filter((word) => word.text.startsWith("of="))
          .map((word) => ({ ...word, text: word.text.slice(3) })),
        invocation,
        host,
      ),
  },
  {
    id: "partition_disk",
    category: "disk",
    level: "dangerous",
    reason: "changes partitions or encrypted volumes",
    programs: [
      "fdisk",
      "parted",
      "sfdisk",
      "sgdisk",
      "gdisk",
      "cryptsetup",
      "diskutil",
      "lvremove",
      "vgremove",
      "pvremove",
      "zpool",
      "zfs",
      "btrfs",
      "mdadm",
      "hdparm",
      "nvme",
    ],
    match: (invocation) =>
      argTexts(invocation).some((text) =>
        /^(?:-l|--list|list|status|show|info|print|get|smart-log|subvolume)$/.test(text),
      )
        ? null
        : [programName(invocation)],
  },
  {
    id: "container_escape",
    category: "container",
    level: "dangerous",
    reason: "gives a container access to the whole machine",
    programs: ["docker", "podman", "nerdctl"],
    match: (invocation) => {
      const texts = argTexts(invocation);
      const mounts = texts.flatMap((text, at) =>
        /^(?:-v|--volume|--mount)$/.test(text)
          ? [texts[at + 1] ?? ""]
          : (/^(?:-v|--volume=|--mount=)(.+)/.exec(text)?.[1] ?? []),
      );
      const whole = mounts.some((mount) =>
        /^(?:\/|\/(?:etc|home|root|usr|var|boot|dev|proc)|~|.*docker\.sock):|(?:source|src)=(?:\/|\/(?:etc|home|root|var)|.*docker\.sock)(?:,|$)|docker\.sock/.test(
          mount,
        ),
      );
      return whole ||
        texts.some((text) => /^--(?:privileged|pid=host|cap-add=(?:ALL|SYS_ADMIN)|ipc=host|userns=host)/.test(text))
        ? ["host"]
        : null;
    },
  },
  {
    id: "remove_containers",
    category: "deletion",
    level: "dangerous",
    reason: "deletes volumes or everything that is not in use",
    programs: ["docker", "podman", "docker-compose"],
    match: (invocation) => {
      const texts = argTexts(invocation);
      const down = texts.includes("down") && texts.some((text) => /^(?:-v|--volumes|--rmi)/.test(text));
      return texts.includes("prune") || down || (texts[0] === "volume" && texts[1] === "rm") ? ["containers"] : null;
    },
  },
  {
    id: "remote_delete",
    category: "remote",
    level: "dangerous",
    reason: "deletes or publishes something on a remote service",
    programs: [
      "kubectl",
      "oc",
      "helm",
      "terraform",
      "tofu",
      "aws",
      "gcloud",
      "az",
      "gh",
      "heroku",
      "fly",
      "flyctl",
      "doctl",
      "vercel",
      "wrangler",
      "pulumi",
      "npm",
      "cargo",
      "twine",
    ],
    match: (invocation) => {
      const texts = operands(invocation).map((word) => word.text);
      const verb =
        /^(?:delete|destroy|rm|rb|uninstall|drain|terminate-instances|remove|purge|unpublish|publish|upload|delete-.*|apps:destroy)$/;
      const program = programName(invocation);
      if (program === "npm" || program === "cargo")
        return /^(?:publish|unpublish|yank|deprecate|owner)$/.test(texts[0] ?? "") &&
          !hasFlag(invocation, "", "--dry-run")
          ? texts
          : null;
      const applies =
        (program === "terraform" || program === "tofu") &&
        texts[0] === "apply" &&
        hasFlag(invocation, "", "--auto-approve", "-auto-approve");
      return texts.slice(0, 4).some((text) => verb.test(text)) || applies ? texts : null;
    },
  },
  {
    id: "background_gateway",
    category: "self",
    level: "dangerous",
    reason: "starts the gateway outside its supervisor",
    legacy: ["start gateway outside systemd (use 'systemctl --user restart hermes-gateway')"],
    match: (invocation) =>
      invocation.background && /gateway/.test(first(invocation)) && OWN.test(invocation.name.text) ? ["gateway"] : null,
  },
];
