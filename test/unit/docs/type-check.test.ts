import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { blocksOf, readPages, root } from './markdown.ts'

const blocks = readPages().flatMap((page) => blocksOf(page, 'ts'))
const examples = ['', 'frameworks/', 'loop/', 'e2b/'].flatMap((folder) =>
  readdirSync(join(root, 'examples', folder))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}${name}`),
)

/** Every source by the name it is checked under; blocks are files that only exist here. */
const sources = new Map<string, string>([
  ...blocks.map(({ page, line, text }): [string, string] => [blockFile(page, line), text]),
  ...examples.map((name): [string, string] => {
    const path = join(root, 'examples', name)
    return [path, readFileSync(path, 'utf8')]
  }),
])

function blockFile(page: string, line: number): string {
  return join(root, `${page}.${line}.ts`)
}

function checkAll(): Map<string, string[]> {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  const checked: ts.CompilerOptions = {
    ...options,
    paths: {
      forkpoint: [join(root, 'src/index.ts')],
      'forkpoint/integrations/*': [join(root, 'src/integrations/*.ts')],
    },
    // An example need not use everything it shows.
    noUnusedLocals: false,
  }
  const program = ts.createProgram([...sources.keys()], checked, hostOf(checked))
  return new Map([...sources.keys()].map((file) => [file, problemsOf(program, file)]))
}

function hostOf(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  return {
    ...host,
    fileExists: (name) => sources.has(name) || fileExists(name),
    readFile: (name) => sources.get(name) ?? readFile(name),
    getSourceFile: (name, how, ...rest) => {
      const text = sources.get(name)
      return text === undefined
        ? getSourceFile(name, how, ...rest)
        : ts.createSourceFile(name, text, how)
    },
  }
}

function problemsOf(program: ts.Program, file: string): string[] {
  return ts.getPreEmitDiagnostics(program, program.getSourceFile(file)).map((problem) => {
    const { line } = problem.file?.getLineAndCharacterOfPosition(problem.start ?? 0) ?? { line: 0 }
    return `line ${line + 1}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`
  })
}

describe('an example in the documentation compiles against the public API', () => {
  const problems = checkAll()

  test.each(blocks.map(({ page, line }) => [page, line] as const))('%s, line %i', (page, line) => {
    expect(problems.get(blockFile(page, line))).toEqual([])
  })

  test.each(examples)('examples/%s', (name) => {
    expect(problems.get(join(root, 'examples', name))).toEqual([])
  })
})
