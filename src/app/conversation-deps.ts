// What opening a conversation starts from: the program's services, its tools, and the state the tools share.

import type { Registry } from "../core/tool-registry.ts";
import type { BuiltinState } from "./builtins.ts";
import type { Services } from "./services.ts";

export interface ConversationDeps {
  readonly services: Services;
  readonly registry: Registry;
  readonly builtins: BuiltinState;
}
