// Identifiers that the product writes.
import { randomBytes } from "node:crypto";

/** `YYYYMMDD_HHMMSS_<hex>` in local time: 6 hex digits in the terminal, 8 in the gateway. */
export function newSessionId(now: Date = new Date(), hexDigits = 6): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = `${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
  return `${day}_${time}_${randomBytes(hexDigits / 2).toString("hex")}`;
}
