import { identities } from './identities.ts'
import { losses } from './losses.ts'

/** What programs find otherwise in a copy than in the original, and why. */
export interface Differing {
  readonly programs: readonly string[]
  /** what they may say, without "noticed: " */
  readonly lines: readonly RegExp[]
  readonly why: string
  /** it depends on the moment of the snapshot */
  readonly sometimes?: true
}

/** What a copy does not have, and its snapshot's record says so. */
export interface Losing extends Differing {
  /** an entry of the record: the object, and what happens to it */
  readonly lost: RegExp
}

/** What happens to programs in a copy and must not surprise them. */
const happening: readonly Differing[] = [
  {
    programs: ['clocks'],
    lines: [/^clock (0|11) jumped by/],
    why: 'the time of day does not stop',
  },
  {
    programs: ['edge-triggered'],
    lines: [/^events that nothing caused was 0/],
    why: 'what is added to an epoll set is reported once, which every program must expect',
  },
  {
    programs: ['timer-overruns'],
    lines: [/^\d+ overruns in the time of/, /sigtimedwait\(&set, &info, &none\) < 0/],
    why: 'the kernel counts them for the timer that sent the signal, and that is a new one',
  },
  {
    programs: ['quiet-tree', 'quiet-deleted-file'],
    lines: [/^an event 0x40000010 on "" in \//, /next_event\(fd\) == NULL/],
    why: 'files without a name are made again where they were, and deleted',
  },
  {
    programs: ['deleted-watched-file'],
    lines: [/next_event\(fd\) == NULL/, /inotify_rm_watch\(fd, watch\) == 0/],
    why: 'the file is made again, and the program is told that the old one is gone',
  },
  {
    programs: ['watch-numbers'],
    lines: [/^number of the next watch was/],
    why: 'the kernel counts from the last watch that there is',
  },
  {
    programs: ['directory-notification'],
    lines: [/^notifications was/],
    why: 'the kernel does not tell who asked for dnotify',
  },
  {
    programs: ['multicast'],
    lines: [/sendto\(sender, "to all"/, /^instead of "to all"/],
    why: 'the kernel does not tell an interface that IP_MULTICAST_IF set by its number',
  },
  {
    programs: ['open-copied-up', 'opened-before-copy-up'],
    lines: [/^st_nlink of .* was 1 \(0x1\), is 2/],
    why: 'overlayfs counts its index when it meets a copied-up file anew',
  },
  {
    programs: ['tar-create', 'du'],
    // One for each copy on the way.
    lines: [/^links in the archive was 599, is 59[78]/, /^lines of du was 1253, is 125[45]/],
    why: 'tar and du find hard links in a table by device number',
    sometimes: true,
  },
  {
    programs: ['tcp-details'],
    lines: [/^(largest segment received|window|round trip|its line in \/proc\/net)/],
    why: 'the kernel measures the connection anew',
  },
]

export const differing: readonly (Differing | Losing)[] = [...identities, ...happening, ...losses]
