// The gateway: connects platforms, dispatches messages to chats, sends answers and reports its status.
import { setMaxListeners } from "node:events";
import { join } from "node:path";
import type { OpenedGateway } from "../../app/open-gateway.ts";
import type { InboundEvent, Platform, PlatformContext } from "../../core/chat/platform.ts";
import { absentHuman } from "../../core/human.ts";
import type { DeliveryTarget } from "../../core/job.ts";
import type { JsonObject } from "../../core/message.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import { findChatEntry } from "../../delivery/api/mirror.ts";
import { settlesWithin } from "../../lib/async/with-timeout.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { Agents } from "../chat/agents.ts";
import { Background } from "../chat/background.ts";
import { ChatSession } from "../chat/chat-session.ts";
import { Handoffs } from "../chat/handoffs.ts";
import { OpenQuestions } from "../chat/open-questions.ts";
import { ProcessNotifier } from "../chat/process-notifier.ts";
import { SessionIndex } from "../inbound/session-index.ts";
import { sessionKey } from "../inbound/session-key.ts";
import { Topics } from "../inbound/topics.ts";
import { outgoingText } from "../outbound/answer.ts";
import { Deliveries } from "../outbound/deliveries.ts";
import { Directory } from "../outbound/directory.ts";
import { Sender } from "../outbound/sender.ts";
import { VoiceModes } from "../outbound/voice-modes.ts";
import type { GatewayContext } from "./gateway-context.ts";
import type { GatewayOptions, GatewayStatus } from "./gateway-options.ts";
import {
  accessSettings,
  homeDestination,
  openLimits,
  openOwners,
  resolveResetPolicy,
  roleForRow,
  userRules,
} from "./gateway-rules.ts";
import { GatewayHooks } from "./hooks.ts";
import { OutageAlert } from "./outage-alert.ts";
import { formatLine, LINK_TIMES, type LinkState, PlatformLink, unusable } from "./platform-link.ts";
import { noteRestart, takeRestart } from "./restart-notice.ts";

const DAY_MS = 86_400_000;
const KEEP_MS = 7 * DAY_MS;
const CLEAN_UP_MS = 300_000;
const AGENTS = { most: 1_024, idleMs: 3_600_000 };

export class Gateway {
  readonly #opened: OpenedGateway;
  readonly #options: GatewayOptions;
  readonly #now: () => number;
  readonly #links = new Map<string, PlatformLink>();
  /** Platforms whose settings are invalid. */
  readonly #unusable: LinkState[] = [];
  readonly #platforms = new Map<string, Platform>();
  readonly #chats = new Map<string, ChatSession>();
  readonly #stopping = new AbortController();
  readonly #startedAt: number;
  readonly deliveries: Deliveries;
  readonly directory: Directory;
  readonly #background = new Background(
    () => this.#context(),
    (row) => this.#chat(sessionKey(row.event.source, this.#context().keyRules))?.backgroundHuman(row) ?? absentHuman,
  );
  readonly #processes = new ProcessNotifier(
    () => this.#context(),
    (row) => this.#receive(row),
  );
  readonly #handoffs = new Handoffs({
    gateway: () => this.#context(),
    home: (name) => this.deliveries.home(name),
    problem: (name) => this.deliveries.problem(name),
    receive: (row) => this.#receive(row),
  });
  readonly #outageAlert: OutageAlert;
  #unsubscribe: () => void = () => undefined;
  #gateway: GatewayContext | undefined;
  #sender: Sender;
  #agents: Agents;
  #draining = false;
  #stopped = false;
  #started = false;
  #cleanUpTimer: NodeJS.Timeout | undefined;

  constructor(opened: OpenedGateway, options: GatewayOptions) {
    this.#opened = opened;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#startedAt = this.#now();
    // Every chat that waits for its rate limit listens to this signal.
    setMaxListeners(0, this.#stopping.signal);
    this.#agents = new Agents(options.agents ?? AGENTS, this.#now);
    this.#sender = new Sender({
      mailbox: opened.mailbox,
      route: (name) => this.#route(name),
      log: (level, text) => options.log(level, text),
      redact: (text) => opened.app.redact(text),
      signal: this.#stopping.signal,
      now: this.#now,
    });
    this.deliveries = new Deliveries({
      mailbox: opened.mailbox,
      sender: this.#sender,
      platforms: this.#platforms,
      link: (name) => this.#links.get(name)?.state,
      home: (name) => homeDestination(opened, this.#platforms, name),
      chats: () => this.directory.chats(),
      mirror: (target, from, text) => this.#mirror(target, from, text),
    });
    this.#outageAlert = new OutageAlert({
      alertDelayMs: options.alertDelayMs,
      state: (name) => this.#links.get(name)?.state,
      label: (name) => this.#platforms.get(name)?.label ?? name,
      send: (text, except) => this.#alertElsewhere(text, except),
    });
    this.directory = new Directory({
      homePath: opened.app.home.path,
      entries: () => this.#gateway?.index.entries() ?? [],
      connections: () => [...this.#links].map(([name, link]) => [name, link.connection] as const),
      now: this.#now,
      report: (text) => options.log("warning", text),
    });
  }

  #context(): GatewayContext {
    if (!this.#gateway) throw new Error("the gateway has not started");
    return this.#gateway;
  }

  #mirror(target: DeliveryTarget, from: string, text: string): void {
    const entry = this.#gateway && findChatEntry(this.#gateway.index.entries(), target);
    if (entry) void this.#chat(entry.session_key)?.mirror(from, text);
  }

  #route(name: string): ReturnType<ConstructorParameters<typeof Sender>[0]["route"]> {
    const platform = this.#platforms.get(name);
    if (!platform || !this.#links.has(name)) return undefined;
    const { section } = this.#opened.settings(name, platform.settings);
    const perChat = Number(section.rate_per_chat);
    const total = Number(section.rate_total);
    const rate = perChat > 0 && total > 0 ? { perChat, total } : undefined;
    return { platform, connection: () => this.#links.get(name)?.connection, rate };
  }

  async start(): Promise<void> {
    const { mailbox } = this.#opened;
    this.#gateway = await this.#createContext();
    for (const platform of await this.#opened.platforms(() => this.#statusJson())) {
      this.#platforms.set(platform.name, platform);
      const settings = this.#opened.settings(platform.name, platform.settings);
      if (settings.section.enabled === false) continue;
      const enabled = platform.enabled(settings);
      if (enabled.ok) this.#links.set(platform.name, this.#link(platform));
      else this.#refuse(platform, unusable(platform, settings, enabled.reason));
    }
    await this.#gateway.owners.refresh();
    // Unfinished messages of the last process come first, in order, before new ones.
    const pending = await mailbox.pending();
    this.#sender.add(pending.outbox);
    for (const row of pending.inbox) this.#receive(row);
    for (const link of this.#links.values()) link.start();
    this.#started = true;
    this.#cleanUpTimer = setInterval(() => void this.#cleanUp(), this.#options.cleanUpMs ?? CLEAN_UP_MS);
    this.#cleanUpTimer.unref();
    this.directory.changed();
    this.#opened.app.deliverBy(this.deliveries);
    this.#unsubscribe = this.#opened.app.onProcessEvent((notice) => {
      this.#processes.notify(notice).catch((error: unknown) => this.#options.log("warning", String(error)));
    });
    this.#handoffs.start();
    await this.#background.resumeStored();
    await this.#notifyRestarted();
    await this.#gateway.hooks.run("gateway:startup", { platforms: [...this.#links.keys()] });
  }

  #refuse(platform: Platform, problem: LinkState | null): void {
    if (!problem) return;
    this.#unusable.push(problem);
    this.#options.log("error", `${platform.label} is not used: ${problem.reason}`);
  }

  /** Notifies the chat that requested a restart. */
  async #notifyRestarted(): Promise<void> {
    const target = await takeRestart(this.#opened.app.home.path);
    if (!target || this.#opened.settings(target.platform, []).section.gateway_restart_notification === false) return;
    await this.deliveries.send(target, { text: "♻️ The gateway is back.", media: [] });
  }

  #link(platform: Platform): PlatformLink {
    const { mailbox, app } = this.#opened;
    const settings = this.#opened.settings(platform.name, platform.settings);
    const take = async (events: readonly InboundEvent[]) => {
      for (const row of await mailbox.accept(platform.name, events)) this.#receive(row);
    };
    const context: Omit<PlatformContext, "lost" | "signal"> = {
      ...settings,
      receive: (event) => take([event]),
      receiveAll: take,
      memory: {
        get: (key) => mailbox.getMemory(platform.name, key),
        set: (key, value, until) => mailbox.setMemory(platform.name, key, value, until),
      },
      newest: () => mailbox.newestMessages(platform.name),
      log: (level, text) => this.#options.log(level, text),
      now: this.#now,
      deliver: (target, text, key) => this.#deliver(target, text, key),
      reaches: (target) => this.deliveries.destination(target) !== null,
      homePath: app.home.path,
    };
    const changed = (state: LinkState) => {
      this.#options.log(
        state.state === "ok" ? "info" : "warning",
        `${platform.label}: ${state.state}${state.reason ? `, ${state.reason}` : ""}`,
      );
      this.#outageAlert.changed(state);
      this.#options.changed?.();
    };
    return new PlatformLink({ platform, context, times: this.#options.times ?? LINK_TIMES, changed });
  }

  async #deliver(target: string, text: string, key: string): Promise<void> {
    const where = this.deliveries.destination(target);
    if (!where) throw new Error(`nothing can be sent to ${target}`);
    const outgoing = outgoingText(text, { ...where, key: `deliver:${key}`, replyMode: "off" });
    this.#sender.add(await this.#opened.mailbox.enqueue(outgoing));
  }

  #receive(row: InboxRow): void {
    const gateway = this.#gateway;
    if (!gateway || this.#draining) return;
    this.#chat(sessionKey(row.event.source, gateway.keyRules))?.receive(row);
  }

  #chat(key: string): ChatSession | undefined {
    const gateway = this.#gateway;
    if (!gateway) return undefined;
    const known = this.#chats.get(key);
    if (known) return known;
    const chat = new ChatSession(gateway, key);
    this.#chats.set(key, chat);
    return chat;
  }

  async #createContext(): Promise<GatewayContext> {
    const { app } = this.#opened;
    const { log } = this.#options;
    const sessions = join(app.home.path, "sessions", "sessions.json");
    const [index, hooks, voice] = await Promise.all([
      SessionIndex.open(sessions, this.#now, (text) => log("warning", text)),
      GatewayHooks.load(join(app.home.path, "hooks"), (text) => log("warning", text)),
      VoiceModes.open(app.home.path),
    ]);
    const access = accessSettings(this.#opened, this.#platforms, log);
    const keyRules = {
      groupPerUser: app.config.group_sessions_per_user,
      threadPerUser: app.config.thread_sessions_per_user,
    };
    const owners = openOwners(this.#opened, access, () => this.#links.keys());
    const rules = userRules(owners, keyRules);
    return {
      opened: this.#opened,
      sender: this.#sender,
      index,
      agents: this.#agents,
      hooks,
      access,
      keyRules,
      platform: (name) => this.#platforms.get(name),
      connection: (name) => this.#links.get(name)?.connection,
      resetPolicy: (source) => resolveResetPolicy(app.config, source),
      owners,
      questions: new OpenQuestions(),
      limits: openLimits(this.#opened, rules, this.#now),
      ...rules,
      roleFor: (row) => roleForRow(row, owners, keyRules),
      isLinked: (name) => this.#links.has(name),
      draining: () => this.#draining,
      restart: async (source) => {
        await noteRestart(app.home.path, source);
        this.#options.restart?.();
      },
      background: this.#background,
      processes: this.#processes,
      topics: new Topics(app.topics, this.#now),
      voice,
      destination: (target) => this.deliveries.destination(target),
      newChat: () => this.directory.changed(),
      pause: (name) => this.#pause(name),
      resume: (name) => this.#resume(name),
      platformLines: () => this.#states().map((state) => formatLine(state, this.#now())),
      log: (level, text) => log(level, text),
      now: this.#now,
    };
  }

  async #pause(name: string): Promise<boolean> {
    await this.#links.get(name)?.stop();
    this.#options.changed?.();
    return this.#links.has(name);
  }

  async #resume(name: string): Promise<boolean> {
    const platform = this.#platforms.get(name);
    if (!platform || !(await this.#pause(name))) return false;
    const link = this.#link(platform);
    this.#links.set(name, link);
    link.start();
    return true;
  }

  /** The home channel of another platform that is connected. */
  async #alertElsewhere(text: string, except: string): Promise<boolean> {
    for (const [name, link] of this.#links) {
      const home = name === except || link.state.state !== "ok" ? undefined : this.deliveries.home(name);
      if (home && (await this.deliveries.send(home, { text, media: [] })) === undefined) return true;
    }
    return false;
  }

  async #cleanUp(): Promise<void> {
    try {
      this.#agents.sweep();
      for (const [key, chat] of this.#chats) if (!chat.busy && !chat.hasState) this.#chats.delete(key);
      await this.#opened.mailbox.prune(this.#now() - KEEP_MS);
      const days = this.#opened.app.config.session_store_max_age_days;
      if (days > 0) this.#gateway?.index.prune(days * DAY_MS);
      await this.directory.refresh();
      await this.#opened.sweepMedia(DAY_MS);
    } catch (error) {
      this.#options.log("warning", `clean-up failed: ${errorMessage(error)}`);
    }
  }

  #statusJson(): JsonObject {
    return {
      pid: process.pid,
      gateway_state: this.#stateName(),
      platforms: Object.fromEntries(this.#states().map((state) => [state.name, { ...state }])),
      active_agents: this.activeTurns,
    };
  }

  get activeTurns(): number {
    const elsewhere = [...this.#links.values()].map((link) => link.connection?.working?.() ?? 0);
    return [...this.#chats.values()].filter((chat) => chat.busy).length + elsewhere.reduce((a, b) => a + b, 0);
  }

  #states(): LinkState[] {
    return [...[...this.#links.values()].map((link) => link.state), ...this.#unusable];
  }

  #stateName(): GatewayStatus["state"] {
    if (this.#stopped) return "stopped";
    if (this.#draining) return "draining";
    if (!this.#started) return "starting";
    const states = this.#states().map(({ state }) => state);
    return states.length > 0 && states.every((state) => state === "ok") ? "running" : "degraded";
  }

  async status(): Promise<GatewayStatus> {
    return {
      state: this.#stateName(),
      startedAt: this.#startedAt,
      platforms: this.#states(),
      activeTurns: this.activeTurns,
      openAgents: this.#agents.size,
      mailbox: await this.#opened.mailbox.counts(),
    };
  }

  /** Starts no new turns. Turns that run longer than `drainMs` resume at the next start. True when all ended. */
  async stop(drainMs: number): Promise<boolean> {
    if (this.#draining) return true;
    this.#draining = true;
    this.#options.changed?.();
    clearInterval(this.#cleanUpTimer);
    this.#unsubscribe();
    this.#handoffs.stop();
    this.#outageAlert.close();
    const chats = [...this.#chats.values()];
    const draining = [...this.#links.values()].map((link) => link.connection?.drain?.());
    const settling = [...chats.map((chat) => chat.settled()), this.#background.settled(), ...draining];
    const drained = await settlesWithin(Promise.all(settling), drainMs);
    if (!drained) await settlesWithin(this.#background.stop(), 5_000);
    if (!drained) await settlesWithin(Promise.all(chats.map((chat) => chat.abandon())), 5_000);
    // Sends answers that are ready; the rest waits in the outbox.
    const until = this.#now() + Math.min(drainMs, 5_000);
    while (this.#sender.pending > 0 && this.#now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
    this.#stopping.abort();
    await settlesWithin(Promise.all([...this.#links.values()].map((link) => link.stop())), 5_000);
    await settlesWithin(this.#agents.close(), 5_000);
    await this.#gateway?.index.close();
    await this.directory.close();
    this.#stopped = true;
    this.#options.changed?.();
    return drained;
  }
}
