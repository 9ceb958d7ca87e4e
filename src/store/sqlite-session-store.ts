// The session store on SQLite, in this process. The statements are in sqlite/; the connection orders and retries them.
import type * as Core from "../core/store/session.ts";
import type { TopicMode } from "../core/store/telegram-topics.ts";
import type { FullStore, NewTopicBinding } from "./full-store.ts";
import { IndexMaintenance } from "./index-maintenance.ts";
import { maybeAutoPrune, pruneGhosts, pruneSessions, vacuum } from "./maintenance.ts";
import { SearchService } from "./search-service.ts";
import { Connection, type ConnectionOptions } from "./sqlite/connection/connection.ts";
import { getConversation } from "./sqlite/conversation.ts";
import { deleteSessions } from "./sqlite/delete.ts";
import { type ExportEntry, exportOrder, exportSession } from "./sqlite/export.ts";
import * as handoff from "./sqlite/handoff.ts";
import { importSession, type PendingLinks } from "./sqlite/import.ts";
import { beginLayoutSwitch, checkIndexHealth } from "./sqlite/index/health.ts";
import { type IndexLayout, readIndexLayout } from "./sqlite/index/layout.ts";
import * as lineage from "./sqlite/lineage.ts";
import { listSessions, searchSessions } from "./sqlite/list.ts";
import * as messages from "./sqlite/messages.ts";
import { getMeta, setMeta } from "./sqlite/meta.ts";
import { conclude, examine, indexedRows } from "./sqlite/repair.ts";
import * as sessions from "./sqlite/sessions.ts";
import { type Split, splitSession } from "./sqlite/split.ts";
import { stats } from "./sqlite/stats.ts";
import * as topics from "./sqlite/telegram-topics.ts";
import * as titles from "./sqlite/titles.ts";
import { updateTokenCounts } from "./sqlite/tokens.ts";
import { undoMessages } from "./sqlite/undone.ts";
import { removeTranscriptFiles } from "./transcript-files.ts";

export interface SqliteStoreOptions extends Omit<ConnectionOptions, "notice" | "onIndexDamage"> {
  /** The file of the side index for short CJK words; without it such searches are slower. */
  readonly runtimePath?: string | undefined;
  readonly onNotice?: ((text: string) => void) | undefined;
  readonly indexLayout?: IndexLayout | undefined;
}

export class SqliteSessionStore implements FullStore {
  readonly #connection: Connection;
  readonly #maintenance: IndexMaintenance;
  readonly #search: SearchService;
  readonly #notice: (text: string) => void;
  readonly #pendingLinks: PendingLinks = new Map();

  private constructor(
    connection: Connection,
    parts: { maintenance: IndexMaintenance; search: SearchService },
    notice: (text: string) => void,
  ) {
    this.#connection = connection;
    this.#maintenance = parts.maintenance;
    this.#search = parts.search;
    this.#notice = notice;
  }

  /** Rejects with a UserError when the file cannot be used. */
  static async open(options: SqliteStoreOptions): Promise<SqliteSessionStore> {
    const notice = options.onNotice ?? (() => undefined);
    let maintenance: IndexMaintenance | undefined;
    const connection = await Connection.open({ ...options, notice, onIndexDamage: () => void maintenance?.start() });
    maintenance = new IndexMaintenance(connection, notice);
    if (options.indexLayout === "compact" && connection.volume === "ok") {
      await connection.exclusive((db) => readIndexLayout(db) === "compact" || beginLayoutSwitch(db, "compact"));
    }
    await maintenance.start();
    const search = new SearchService(connection, options.runtimePath, notice);
    return new SqliteSessionStore(connection, { maintenance, search }, notice);
  }

  // Sessions

  createSession(session: Core.NewSession) {
    return this.#connection.write((c) => sessions.createSession(c, session));
  }
  ensureSession(session: { id: string; source?: string | undefined; model?: string }) {
    return this.createSession({ ...session, source: session.source ?? "unknown" });
  }
  endSession(id: string, reason: string) {
    return this.#connection.write((c) => sessions.endSession(c, id, reason));
  }
  reopenSession(id: string) {
    return this.#connection.write((c) => sessions.reopenSession(c, id));
  }
  updateSystemPrompt(id: string, text: string) {
    return this.#connection.write((c) => sessions.updateSystemPrompt(c, id, text));
  }
  getSession(id: string) {
    return this.#connection.read((c) => sessions.getSession(c, id));
  }
  updateTokenCounts(id: string, update: Core.TokenUpdate) {
    return this.#connection.write((c) => updateTokenCounts(c, id, update));
  }
  splitSession(split: Split) {
    return this.#connection.write((c) => splitSession(c, split));
  }

  // Ids, lineage, titles

  resolveSessionId(idOrPrefix: string) {
    return this.#connection.read((c) => lineage.resolveSessionId(c, idOrPrefix));
  }
  getCompressionTip(id: string) {
    return this.#connection.read((c) => lineage.getCompressionTip(c, id));
  }
  resolveResumeSessionId(id: string) {
    return this.#connection.read((c) => lineage.resolveResumeSessionId(c, id));
  }
  ancestors(id: string) {
    return this.#connection.read((c) => lineage.ancestors(c, id));
  }
  descendants(id: string) {
    return this.#connection.read((c) => lineage.descendants(c, id));
  }
  setSessionTitle(id: string, title: string | null) {
    return this.#connection.write((c) => titles.setSessionTitle(c, id, title));
  }
  getSessionTitle(id: string) {
    return this.#connection.read((c) => titles.getSessionTitle(c, id));
  }
  getSessionByTitle(title: string) {
    return this.#connection.read((c) => sessions.getSessionByTitle(c, title));
  }
  resolveSessionByTitle(title: string) {
    return this.#connection.read((c) => titles.resolveSessionByTitle(c, title));
  }
  getNextTitleInLineage(base: string) {
    return this.#connection.read((c) => titles.getNextTitleInLineage(c, base));
  }

  // Lists

  listSessions(options?: Core.ListOptions) {
    return this.#connection.read((c) => listSessions(c, options));
  }
  async searchSessions(options?: { source?: string | undefined; limit?: number; offset?: number | undefined }) {
    return this.#connection.read((c) => searchSessions(c, options));
  }
  sessionCount(source?: string) {
    return this.#connection.read((c) => sessions.sessionCount(c, source));
  }

  // Messages

  appendMessage(sessionId: string, message: Core.NewMessage) {
    return this.#connection.write((c) => messages.appendMessage(c, sessionId, message));
  }
  appendMessages(sessionId: string, list: readonly Core.NewMessage[]) {
    return this.#connection.write((c) => messages.appendMessages(c, sessionId, list));
  }
  replaceMessages(sessionId: string, list: readonly Core.NewMessage[]) {
    return this.#connection.write((c) => messages.replaceMessages(c, sessionId, list));
  }
  clearMessages(sessionId: string) {
    return this.#connection.write((c) => messages.clearMessages(c, sessionId));
  }
  undoMessages(sessionId: string, count: number) {
    return this.#connection.write((c) => undoMessages(c, sessionId, count));
  }
  async getMessages(sessionId: string, page?: Core.MessagePage) {
    return this.#connection.read((c) => messages.getMessages(c, sessionId, page));
  }
  async getConversation(sessionId: string, options?: { includeAncestors?: boolean | undefined }) {
    return this.#connection.read((c) => getConversation(c, sessionId, options));
  }
  messageCount(sessionId?: string) {
    return this.#connection.read((c) => messages.messageCount(c, sessionId));
  }
  toolResults(sessionIds: readonly string[]) {
    return this.#connection.read((c) => messages.toolResults(c, sessionIds));
  }
  async searchMessages(query: string, options?: Core.SearchOptions) {
    const answer = await this.#search.searchMessages(query, options);
    if (answer.notice !== undefined) await this.#maintenance.start();
    return answer;
  }

  // Export, import, removal

  exportSession(id: string) {
    return this.#connection.read((c) => exportSession(c, id));
  }
  /** The ids of an export, in its order. */
  async exportOrder(source?: string): Promise<ExportEntry[]> {
    return this.#connection.read((c) => exportOrder(c, source));
  }
  async *exportAll(source?: string): AsyncGenerator<Core.ExportedSession> {
    for (const { id, last_active } of await this.exportOrder(source)) {
      const session = await this.exportSession(id);
      if (session) yield { ...session, last_active };
    }
  }
  async importSession(session: Core.ExportedSession) {
    const result = await this.#connection.write((c) => importSession(c, session, this.#pendingLinks));
    if (result.imported > 0) await this.#notePendingLink(session);
    return result;
  }
  async deleteSession(id: string, sessionsDir?: string) {
    const deleted = await this.#connection.write((c) => deleteSessions(c, [id]));
    if (deleted > 0 && sessionsDir) await removeTranscriptFiles(sessionsDir, [id]);
    return deleted > 0;
  }
  async pruneSessions(options?: Parameters<Core.SessionStore["pruneSessions"]>[0]) {
    return pruneSessions(this.#connection, options);
  }
  async pruneEmptyGhostSessions(sessionsDir?: string) {
    return pruneGhosts(this.#connection, sessionsDir);
  }
  finalizeOrphanedCompressionSessions() {
    return this.#connection.write(sessions.finalizeOrphanedCompressionSessions);
  }

  // Meta, upkeep, health

  getMeta(key: string) {
    return this.#connection.read((c) => getMeta(c, key));
  }
  setMeta(key: string, value: string) {
    return this.#connection.write((c) => setMeta(c, key, value));
  }
  vacuum() {
    return vacuum(this.#connection);
  }
  maybeAutoPruneAndVacuum(options: Parameters<FullStore["maybeAutoPruneAndVacuum"]>[0] = {}) {
    return maybeAutoPrune(this.#connection, options, this.#notice);
  }
  stats() {
    return this.#connection.read((c) => stats(c, readIndexLayout(c.db)));
  }
  async health(): Promise<Core.StoreHealth> {
    const volume = await this.#connection.recheckVolume();
    if (volume === "read_only") {
      return { state: volume, notice: `${this.#connection.path} is read-only: nothing can be saved.` };
    }
    if (volume === "full") {
      return { state: volume, notice: `The disk that holds ${this.#connection.path} was full at the last write.` };
    }
    const index = await this.#connection.read((c) => checkIndexHealth(c.db));
    return {
      state: index.state,
      notice: index.notice,
      rebuildProgress: index.progress,
    };
  }
  async repair(onProgress?: Core.OnProgress): Promise<Core.RepairReport> {
    const findings = await this.#connection.exclusive(examine);
    const steps = await this.#rebuild(onProgress);
    if (steps > 0) findings.repaired.push("The search index was rebuilt.");
    const integrity = await this.#connection.exclusive((db) => conclude(db, findings));
    return { integrity, ...findings, indexedRows: await this.#connection.read((c) => indexedRows(c.db)) };
  }
  async setIndexLayout(layout: IndexLayout, onProgress?: Core.OnProgress) {
    await this.#connection.exclusive((db) => beginLayoutSwitch(db, layout));
    await this.#rebuild(onProgress);
  }
  async close() {
    if (this.#connection.closed) return;
    this.#maintenance.stop();
    await this.#connection.close();
    this.#search.close();
  }

  // Telegram topics

  applyTelegramTopicMigration() {
    return this.#connection.write(topics.applyTelegramTopicMigration);
  }
  enableTelegramTopicMode(mode: TopicMode) {
    return this.#connection.write((c) => topics.enableTelegramTopicMode(c, mode));
  }
  disableTelegramTopicMode(chatId: string, clearBindings?: boolean) {
    return this.#connection.write((c) => topics.disableTelegramTopicMode(c, chatId, clearBindings));
  }
  usesTelegramTopics() {
    return this.#connection.read((c) => topics.usesTelegramTopics(c));
  }

  isTelegramTopicModeEnabled(chatId: string, userId: string) {
    return this.#connection.read((c) => topics.isTelegramTopicModeEnabled(c, chatId, userId));
  }
  getTelegramTopicBinding(chatId: string, threadId: string) {
    return this.#connection.read((c) => topics.getTelegramTopicBinding(c, chatId, threadId));
  }
  bindTelegramTopic(binding: NewTopicBinding) {
    return this.#connection.write((c) => topics.bindTelegramTopic(c, binding));
  }
  isTelegramSessionLinkedToTopic(sessionId: string) {
    return this.#connection.read((c) => topics.isTelegramSessionLinkedToTopic(c, sessionId));
  }
  listUnlinkedTelegramSessionsForUser(_chatId: string, userId: string, limit?: number) {
    return this.#connection.read((c) => topics.listUnlinkedTelegramSessionsForUser(c, userId, limit));
  }

  // Handoff

  requestHandoff(id: string, platform: string) {
    return this.#connection.write((c) => handoff.requestHandoff(c, id, platform));
  }
  claimHandoff(id: string) {
    return this.#connection.write((c) => handoff.claimHandoff(c, id));
  }
  completeHandoff(id: string) {
    return this.#connection.write((c) => handoff.completeHandoff(c, id));
  }
  failHandoff(id: string, error: string) {
    return this.#connection.write((c) => handoff.failHandoff(c, id, error));
  }
  getHandoffState(id: string) {
    return this.#connection.read((c) => handoff.getHandoffState(c, id));
  }
  listPendingHandoffs() {
    return this.#connection.read(handoff.listPendingHandoffs);
  }

  async #rebuild(onProgress?: Core.OnProgress): Promise<number> {
    let steps = 0;
    for (let step = await this.#maintenance.step(); step; step = await this.#maintenance.step()) {
      steps++;
      onProgress?.(step.done, step.total);
    }
    return steps;
  }

  async #notePendingLink({ id, parent_session_id: parent }: Core.ExportedSession): Promise<void> {
    this.#pendingLinks.delete(id);
    if (parent === null || parent === undefined) return;
    const chain = await this.#connection.read((c) => lineage.ancestors(c, id));
    if (chain.length === 1) this.#pendingLinks.set(parent, [...(this.#pendingLinks.get(parent) ?? []), id]);
  }
}
