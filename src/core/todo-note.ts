// The note by which open to-do items outlive a compaction, known to whoever writes it and whoever must not summarise it.

/** The first words of the note; the rest is the list. */
export const TODO_NOTE = "[Your active task list was preserved across context compression]";
