import { createHash } from 'node:crypto'

/** What an environment must hold: every file, every row, and what its server remembers. */
export class Model {
  /** contents of the files of the project, by path */
  readonly files: Map<string, string>
  /** rows of the database, by key */
  readonly rows: Map<number, string>
  /** requests that the server has counted, in memory */
  hits: number

  constructor(files: Map<string, string>, rows: Map<number, string>, hits: number) {
    this.files = files
    this.rows = rows
    this.hits = hits
  }

  /** Two models are changed from here on. */
  copy(): Model {
    return new Model(new Map(this.files), new Map(this.rows), this.hits)
  }

  /** As `look` of the environment prints it. */
  describe(): string {
    const files = [...this.files].map(([path, text]) => `${sha1(text)}  ${path}`).toSorted()
    const rows = [...this.rows].toSorted(([a], [b]) => a - b).map(([key, text]) => `${key}|${text}`)
    return [...files, ...rows, 'ok', `hits ${this.hits}`].join('\n')
  }
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
