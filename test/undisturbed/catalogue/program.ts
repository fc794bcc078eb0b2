/** A program that would notice a snapshot, had it disturbed anything. It asserts on its own view, from inside. */
export interface Program {
  readonly name: string
  /** what it looks at */
  readonly watches: string
  /** for sh, in a directory of its own below that of the suite */
  readonly command: string
  /** it talks to a computer outside */
  readonly outside?: true
}

/** What CRIU cannot dump at all: the snapshot is refused, and the program must not notice that, either. */
export interface Refused extends Program {
  /** the words of the refusal */
  readonly refusal: RegExp
}

/** What a snapshot still disturbs. */
export interface Noticing extends Program {
  /** what it notices, in its words */
  readonly notices: RegExp
  readonly why: string
}

/** What a cell does not allow: the program cannot even begin. */
export interface Unavailable extends Program {
  /** why it cannot, in its own words */
  readonly reason: RegExp
}

/** A program of ../programs/*.c. */
export function c(name: string, watches: string): Program {
  return { name, watches, command: `exec ../undisturbed ${name}` }
}

const interpreters = { py: '/usr/bin/python3 -u', sh: '/bin/bash', pl: '/usr/bin/perl' }

/** A file of ../programs for an interpreter; with words, they are part of the program's name. */
export function script(
  file: string,
  kind: keyof typeof interpreters,
  watches: string,
  ...words: string[]
): Program {
  const command = ['exec', interpreters[kind], `../programs/${file}.${kind}`, ...words].join(' ')
  const name = [kind === 'pl' ? `perl-${file}` : file, ...words].join('-')
  return { name, watches, command }
}

export function outside(program: Program): Program {
  return { ...program, outside: true }
}

export function noticing(program: Program, notices: RegExp, why: string): Noticing {
  return { ...program, notices, why }
}

export function unavailable(program: Program, reason: RegExp): Unavailable {
  return { ...program, reason }
}

export function refused(program: Program, refusal: RegExp): Refused {
  return { ...program, refusal }
}
