// Checkpoints with the settings, the redactor and the command analysis of a home.
import { openSettings } from "../config/api.ts";
import type { Home } from "../core/home.ts";
import { type CheckpointHost, openTurnCheckpoints } from "../tools/checkpoints/api.ts";
import type { TurnCheckpoints } from "../tools/checkpoints/turn-checkpoints.ts";
import type { Services } from "./services.ts";

/** For the tools of a running program. */
export function openCheckpoints({ home, config, redactor, notice }: Services): TurnCheckpoints {
  return openTurnCheckpoints(home, config, {
    isDestructive: async (command, paths) => {
      const { destructiveHint } = await import("../security/gate/destructive-hint.ts");
      return destructiveHint(command, paths);
    },
    redact: (text) => redactor.redact(text),
    notice,
  });
}

/** For `hermes checkpoints`, which runs without the rest of the program. */
export function checkpointHost(home: Home): CheckpointHost {
  return {
    home,
    settings: openSettings(home),
    openRedactor: async (config) => {
      const [{ createRedactor }, { knownSecrets }] = await Promise.all([
        import("../security/redact.ts"),
        import("../security/known-secrets.ts"),
      ]);
      return createRedactor({ values: knownSecrets(home, config), enabled: config.security.redact_secrets });
    },
  };
}
