// Finds an unused port on loopback.
import { type AddressInfo, createServer } from "node:net";

/** Free a moment ago: the system hands such ports out in turn, so the next one to ask gets another. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
      .on("error", reject)
      .listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo;
        server.close(() => resolve(port));
      });
  });
}
