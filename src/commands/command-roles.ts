// Which chat commands change the agent for everybody, and so are the owner's: all built-in commands in one table.

/** `owner`: the whole command. A pattern: the command with such arguments. `everybody`: it changes only the own chat. */
type Rule = "everybody" | "owner" | RegExp;

export const COMMAND_ROLES: { readonly [command: string]: Rule } = {
  // Questions check by themselves who may answer them.
  approve: "everybody",
  deny: "everybody",
  background: "everybody",
  compress: "everybody",
  // Shows and changes the jobs of the own chat; all of them only for the owner.
  cron: "everybody",
  help: "everybody",
  history: "everybody",
  model: "everybody",
  new: "everybody",
  platform: /^(?:pause|resume)\b/i,
  queue: "everybody",
  // Reads again what is on the disk.
  "reload-skills": "everybody",
  restart: "owner",
  resume: "everybody",
  sethome: "owner",
  // In chats it only lists.
  skills: "everybody",
  start: "everybody",
  status: "everybody",
  steer: "everybody",
  stop: "everybody",
  title: "everybody",
  topic: "everybody",
  // Says how to update; it updates nothing.
  update: "everybody",
  usage: "everybody",
  voice: "everybody",
  whoami: "everybody",
  yolo: "owner",
};

/** Commands of plugins, skills and the configuration are not listed: whoever added them decides by the platform's lists. */
export function isForOwner(command: string, args: string): boolean {
  const rule = Object.hasOwn(COMMAND_ROLES, command) ? COMMAND_ROLES[command] : "everybody";
  return rule instanceof RegExp ? rule.test(args.trim()) : rule === "owner";
}
