// Programs that only start another program, and their options that take a value, to find the inner command.

export interface Wrapper {
  /** Letters of short options that take a value. */
  readonly values: string;
  readonly long?: readonly string[] | undefined;
  /** Operands before the command, such as the duration of `timeout`. */
  readonly skip?: number | undefined;
}

/** Options that take a value, for wrappers whose command follows their options. */
export const WRAPPERS: {
  readonly [program: string]: Wrapper;
} = {
  sudo: {
    values: "ugpCDhrtTUR",
    long: ["--user", "--group", "--prompt", "--host", "--chdir", "--chroot", "--role", "--type"],
  },
  doas: { values: "uC" },
  pkexec: { values: "", long: ["--user"] },
  env: { values: "uCS", long: ["--unset", "--chdir"] },
  nohup: { values: "" },
  setsid: { values: "" },
  time: { values: "fo" },
  nice: { values: "n", long: ["--adjustment"] },
  ionice: { values: "cnp" },
  timeout: { values: "ks", long: ["--kill-after", "--signal"], skip: 1 },
  gtimeout: { values: "ks", skip: 1 },
  exec: { values: "a" },
  command: { values: "" },
  builtin: { values: "" },
  noglob: { values: "" },
  nocorrect: { values: "" },
  stdbuf: { values: "ioe" },
  unbuffer: { values: "" },
  xargs: {
    values: "adEeIiLlnPs",
    long: ["--max-args", "--max-procs", "--replace", "--delimiter", "--arg-file", "--max-lines"],
  },
  parallel: { values: "jN", long: ["--jobs"] },
  chroot: { values: "", long: ["--userspec"], skip: 1 },
  busybox: { values: "" },
  toybox: { values: "" },
  caffeinate: { values: "tw" },
  flock: { values: "wE", skip: 1 },
  "systemd-run": { values: "pEut", long: ["--unit", "--property", "--setenv", "--on-calendar", "--on-active"] },
  "systemd-inhibit": { values: "", long: ["--what", "--why", "--who"] },
  "xvfb-run": { values: "enps" },
  "dbus-run-session": { values: "" },
  rlwrap: { values: "" },
  proxychains: { values: "f" },
  proxychains4: { values: "f" },
  torsocks: { values: "" },
  linux64: { values: "" },
  fakeroot: { values: "" },
  faketime: { values: "f", skip: 1 },
};

/** Wrappers with complex options: the command may start at any word. */
export const LOOSE_WRAPPERS = new Set(
  "setpriv prlimit choom capsh start-stop-daemon chrt taskset numactl cgexec unshare nsenter firejail runuser setarch daemonize catchsegv valgrind perf gosu su-exec tini dumb-init flatpak-spawn distrobox-enter strace ltrace coproc bwrap proot systemd-nspawn ip-netns runcon aa-exec pidns uv poetry pipenv direnv hyperfine entr watchexec parallel-ssh".split(
    " ",
  ),
);

/** The dynamic loader, which runs the file in its argument. */
export const LOADER = /^ld(?:-linux|-musl)?[\w.-]*\.so(?:\.\d+)*$/;
