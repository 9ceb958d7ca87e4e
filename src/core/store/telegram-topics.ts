// Telegram topics: which private chats keep one session per topic.

export interface TopicMode {
  readonly chatId: string;
  readonly userId: string;
  readonly hasTopicsEnabled?: boolean | null | undefined;
  readonly allowsUsersToCreateTopics?: boolean | null | undefined;
}

/** The tables are created at the first use. */
export interface TopicStore {
  enableTelegramTopicMode(mode: TopicMode): Promise<void>;
  disableTelegramTopicMode(chatId: string, clearBindings?: boolean): Promise<void>;
  /** Whether any chat ever enabled topics. */
  usesTelegramTopics(): Promise<boolean>;
  isTelegramTopicModeEnabled(chatId: string, userId: string): Promise<boolean>;
}
