// Checks the names of wire fields against the types of the official SDKs, while their values stay unverified JSON.
import type { Json } from "../../core/message.ts";
import { isJsonObject } from "./json-values.ts";

type KeysOfUnion<T> = T extends unknown ? keyof T : never;

/**
 * The fields of the SDK's type `T` and the `Extra` ones that other servers send. Reading a field that the API no longer
 * has is a compile error; every value still has to be checked, because servers send anything.
 */
export type WireFields<T, Extra extends string = never> = {
  readonly [Key in (KeysOfUnion<T> & string) | Extra]?: Json | undefined;
};

/** The same for an object under construction. */
export type WireDraft<T, Extra extends string = never> = {
  -readonly [Key in keyof WireFields<T, Extra>]: WireFields<T, Extra>[Key];
};

/** The fields of an object; none when the value is not an object. */
export function wireFields<T, Extra extends string = never>(value: Json | undefined): WireFields<T, Extra> {
  return (isJsonObject(value) ? value : {}) as WireFields<T, Extra>;
}
