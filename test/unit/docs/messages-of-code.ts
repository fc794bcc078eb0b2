// Reads messages from the sources as data: every complete literal, with `…` for what varies.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './markdown.ts'

export const hole = '…'

/** Every literal that the program, its helpers in C or the bootstrap could print. */
export function literalsOfCode(): ReadonlySet<string> {
  const files = ['src', 'native', 'scripts', 'forkpoint'].flatMap(filesBelow)
  return new Set(files.flatMap((path) => literalsIn(path, readFileSync(path, 'utf8'))))
}

function filesBelow(name: string): string[] {
  if (name === 'forkpoint') return [join(root, name)]
  const all = readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
  return all
    .filter((path) => /\.(ts|c|h|sh)$|(^|\/)bootstrap(\.d\/[^/]+)?$/.test(path))
    .filter((path) => path !== 'bootstrap.d')
    .map((path) => join(root, name, path))
}

function literalsIn(path: string, text: string): string[] {
  if (path.endsWith('.ts')) return literalsOfTypeScript(text)
  return /\.[ch]$/.test(path) ? literalsOfC(text) : literalsOfShell(text)
}

function literalsOfTypeScript(text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const whole = wholeText(node)
    if (whole !== undefined) found.push(whole)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest))
  return found
}

/** A literal, or a concatenation of several; inserted values are holes. */
function wholeText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    const rest = node.templateSpans.map(({ literal }) => hole + literal.text)
    return node.head.text + rest.join('')
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return
  const left = wholeText(node.left)
  const right = wholeText(node.right)
  if (left === undefined && right === undefined) return
  return (left ?? hole) + (right ?? hole)
}

/** The message of a failed call is followed by the kernel's error (native/shared/error.c). */
const withReason = /\b(?:error_set|die)\((?:[^"]*, )?$/

/** Adjacent literals are one; `%s` and the like are holes. */
function literalsOfC(text: string): string[] {
  const runs = text.matchAll(/"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI\w+\s*)?"(?:[^"\\\n]|\\.)*")*/g)
  return Array.from(runs, ({ 0: run, index }) => {
    const literal = run
      .replaceAll(/"\s*(?:PRI\w+\s*)?"/g, '')
      .slice(1, -1)
      .replaceAll(/%[-+ #0]*[\d.*]*(?:hh?|ll?|[jzt])?[a-z]/gi, hole)
      .replace(/\\n$/, '')
    return withReason.test(text.slice(Math.max(0, index - 80), index))
      ? `${literal}: ${hole}`
      : literal
  })
}

/** Quoted text, possibly over several lines; variables and commands in it are holes. */
function literalsOfShell(text: string): string[] {
  const code = text.replaceAll(/^\s*#.*$/gm, '')
  const quoted = code.match(/"(?:[^"\\]|\\.)*"|'[^']*'/g) ?? []
  return quoted.map((word) =>
    word
      .slice(1, -1)
      .replaceAll(/\\\n/g, '')
      .replaceAll(/\$\([^)]*\)|\$\{[^}]*\}|\$\w+|%s/g, hole)
      .replace(/\\n$/, ''),
  )
}
