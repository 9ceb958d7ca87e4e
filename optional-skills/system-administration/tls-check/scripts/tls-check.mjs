#!/usr/bin/env node
// Checks the TLS certificate of hosts: validity, days left, names, issuer, protocol. No dependencies.
import { connect } from "node:tls";

const TIMEOUT_MS = 10_000;

function parseArgs(argv) {
  const wish = { hosts: [], days: 21, json: false };
  for (let index = 0; index < argv.length; index++) {
    if (argv[index] === "--json") wish.json = true;
    else if (argv[index] === "--days") wish.days = Number(argv[++index]);
    else wish.hosts.push(argv[index]);
  }
  if (wish.hosts.length === 0 || !Number.isFinite(wish.days))
    throw new Error("usage: tls-check.mjs [--days N] [--json] HOST[:PORT] …");
  return wish;
}

function look(target, warnDays) {
  const [host, port = "443"] = target.split(":");
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port),
      servername: host,
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
    });
    const fail = (problem) => {
      socket.destroy();
      resolve({ host, port, ok: false, problems: [problem] });
    };
    socket.once("error", (error) => fail(error.code ?? error.message));
    socket.once("timeout", () => fail("timeout"));
    socket.once("secureConnect", () => {
      const certificate = socket.getPeerCertificate();
      const daysLeft = Math.floor((Date.parse(certificate.valid_to) - Date.now()) / 86_400_000);
      const problems = [];
      if (daysLeft < 0) problems.push("expired");
      else if (daysLeft < warnDays) problems.push(`expires in ${daysLeft} days`);
      if (socket.authorizationError) problems.push(String(socket.authorizationError));
      if (["TLSv1", "TLSv1.1"].includes(socket.getProtocol())) problems.push(`protocol ${socket.getProtocol()}`);
      resolve({
        host,
        port,
        ok: problems.length === 0,
        problems,
        daysLeft,
        validTo: certificate.valid_to,
        issuer: certificate.issuer?.O ?? certificate.issuer?.CN ?? "",
        names: certificate.subjectaltname ?? certificate.subject?.CN ?? "",
        protocol: socket.getProtocol(),
      });
      socket.end();
    });
  });
}

try {
  const wish = parseArgs(process.argv.slice(2));
  const results = await Promise.all(wish.hosts.map((host) => look(host, wish.days)));
  if (wish.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else
    for (const { host, port, ok, problems, daysLeft, issuer, protocol } of results) {
      const facts = daysLeft === undefined ? "" : ` ${daysLeft} days left, ${issuer}, ${protocol}`;
      process.stdout.write(
        `${ok ? "ok     " : "PROBLEM"} ${host}:${port}${facts}${ok ? "" : `: ${problems.join("; ")}`}\n`,
      );
    }
  process.exitCode = results.every((result) => result.ok) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
