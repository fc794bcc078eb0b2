/** Where the processes of a snapshot remember device numbers of files, see native/cell/pairs/pairs.h. */
export const pairsName = 'pairs'
