// Exit codes of `hermes gateway run`.

/** `restart` asks a service manager to start the gateway again; `alreadyRunning` asks it not to. */
export const EXIT = { ok: 0, failed: 1, alreadyRunning: 3, restart: 75 } as const;
