import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { root } from '../docs/markdown.ts'

/** The names that declarations of `src/index.ts` mention and a user cannot import. */
function unexported(): string[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  const program = ts.createProgram([join(root, 'src/index.ts')], options)
  const checker = program.getTypeChecker()
  const index = program.getSourceFile(join(root, 'src/index.ts'))
  const module = index && checker.getSymbolAtLocation(index)
  if (!module) throw new Error('src/index.ts has no symbol')
  const exported = new Set(
    checker.getExportsOfModule(module).map((symbol) => original(checker, symbol)),
  )
  const missing = new Set<string>()
  for (const symbol of exported) {
    for (const declaration of symbol.declarations ?? []) visit(declaration)
  }
  return [...missing].sort()

  function visit(node: ts.Node): void {
    if (isHidden(node)) return
    if (ts.isHeritageClause(node) && ts.isClassDeclaration(node.parent)) {
      visitBases(node)
      return
    }
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const name = ts.isTypeReferenceNode(node) ? node.typeName : node.expression
      const symbol = checker.getSymbolAtLocation(name)
      if (symbol) note(original(checker, symbol), name.getText())
    }
    ts.forEachChild(node, visit)
  }

  /** What a class inherits belongs to it, so nobody has to name where that is written. */
  function visitBases({ types }: ts.HeritageClause): void {
    for (const { expression } of types) {
      const symbol = checker.getSymbolAtLocation(expression)
      const base = symbol && original(checker, symbol)
      if (base && isOurs(base))
        for (const declaration of base.declarations ?? []) visit(declaration)
    }
  }

  function note(symbol: ts.Symbol, name: string): void {
    if (isOurs(symbol) && !exported.has(symbol)) missing.add(name)
  }
}

function isOurs({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some(
    (declaration) =>
      declaration.getSourceFile().fileName.startsWith(join(root, 'src/')) &&
      !ts.isTypeParameterDeclaration(declaration),
  )
}

function original(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** Private and protected members of a class, and the bodies of its methods, are not part of a signature. */
function isHidden(node: ts.Node): boolean {
  if (ts.isBlock(node) || ts.isConstructorDeclaration(node)) return true
  if (ts.isVariableDeclaration(node)) return node.type === undefined
  if (!ts.isClassElement(node) || node.name === undefined) return false
  if (ts.isPrivateIdentifier(node.name)) return true
  const isPrivate =
    ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)
  return isPrivate !== 0 || (ts.isPropertyDeclaration(node) && node.type === undefined)
}

/** Helpers that make types; the resulting types are shown in full, so nobody has to name the helpers. */
const howTypesAreMade = ['Data', 'Frozen', 'Given', 'Id', 'PlaceSource', 'd.Data']

test('whatever a signature of the public API mentions can be imported', () => {
  expect(unexported().filter((name) => !howTypesAreMade.includes(name))).toEqual([])
})
