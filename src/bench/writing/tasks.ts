import type { Plan } from '../plan.ts'
import { python } from '../workloads/python.ts'
import type { WritingStage } from './stage.ts'

/** A command that writes, or reads what others have written. They run in the order of the list. */
export interface Task {
  readonly name: string
  readonly command: string
  /** what the host must have for it, apart from the programs of any Linux */
  readonly needs?: string
  /** whether it changes files, so that the time until they are on disk is of interest */
  readonly writes: boolean
  /** removes what no other task needs */
  readonly cleanUp?: string
}

const place = '/root/writing'

/** A hundred files per directory, of some hundred bytes. */
const smallFiles = `
my ($place, $count) = @ARGV;
mkdir($place) or die;
for my $i (0 .. $count - 1) {
  my $dir = "$place/" . int($i / 100);
  mkdir($dir) or die if $i % 100 == 0;
  open(my $file, ">", "$dir/file-$i") or die;
  print $file "line $i of a small file\\n" x (5 + $i % 40);
  close($file) or die;
}`

/** One transaction per row, each of which SQLite syncs to disk. */
const transactions = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA synchronous = FULL")
db.execute("CREATE TABLE rows (n INTEGER PRIMARY KEY, text TEXT)")
for n in range(int(sys.argv[2])): db.execute("INSERT INTO rows (text) VALUES (?)", ("row %d" % n * 20,))
`

export function writingTasks(
  { archive, project }: WritingStage,
  { files, packages, smallFiles: count, sequentialMb, transactions: rows }: Plan['writing'],
): readonly Task[] {
  const cache = `--cache ${place}/npm-cache`
  return [
    {
      name: `untar ${files} files`,
      command: `mkdir -p ${place}/untarred && tar -xf ${archive} -C ${place}/untarred`,
      writes: true,
    },
    {
      name: `${count} small files`,
      command: `perl -e '${smallFiles}' ${place}/small ${count}`,
      writes: true,
    },
    {
      name: `cp -r ${files} files`,
      command: `cp -r ${place}/untarred ${place}/copied`,
      writes: true,
    },
    {
      name: `npm ci ${packages} packages`,
      command: `cd ${project} && npm ci --offline --no-audit --no-fund --ignore-scripts ${cache}`,
      needs: 'npm',
      writes: true,
    },
    {
      name: `write ${sequentialMb} MB`,
      command: `dd if=/dev/zero of=${place}/large bs=1M count=${sequentialMb} status=none`,
      writes: true,
      cleanUp: `rm ${place}/large`,
    },
    {
      name: `SQLite ${rows} transactions`,
      command: `${python} -c '${transactions}' ${place}/rows.db ${rows}`,
      needs: python,
      writes: true,
    },
    {
      name: `stat ${count} files`,
      command: `find ${place}/small -size +100M`,
      writes: false,
    },
    { name: `rm -r ${count} files`, command: `rm -r ${place}/small`, writes: true },
  ]
}
