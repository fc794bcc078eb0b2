/** Characters of a note on a tree that was copied in. One of half a million files takes that much. */
export const longestCopyNote = 64 * 1024 ** 2
