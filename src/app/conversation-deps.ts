// What opening a conversation needs: the services, the registered tools, and the state that the tools share.

import type { Registry } from "../core/tool-registry.ts";
import type { BuiltinState } from "./builtins.ts";
import type { Services } from "./services.ts";

export interface ConversationDeps {
  readonly services: Services;
  readonly registry: Registry;
  readonly builtins: BuiltinState;
}
