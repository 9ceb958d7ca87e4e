// The note that carries open to-do items through a compaction; shared by its writer and the summariser, which skips it.

/** The first line of the note; the list follows. */
export const TODO_NOTE = "[Your active task list was preserved across context compression]";
