// Finds an unused port on loopback.
import { type AddressInfo, createServer } from "node:net";

/** The port was free a moment ago. The system assigns ports in turn, so the next caller gets another one. */
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
