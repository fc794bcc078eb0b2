import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidInputError } from '../../../src/model/errors.ts'
import { newSnapshotId } from '../../../src/model/ids.ts'
import { formatSource, parseSource, type SourceRequest } from '../../../src/model/source.ts'

const snapshotId = newSnapshotId()
const digest = `sha256:${'0a'.repeat(32)}`

test.each<[string, SourceRequest]>([
  ['host', { kind: 'host' }],
  ['dir:/srv/app', { kind: 'dir', path: '/srv/app' }],
  ['dir:./a dir:with, odd=characters', { kind: 'dir', path: './a dir:with, odd=characters' }],
  ['rootfs:/srv/debian', { kind: 'rootfs', path: '/srv/debian' }],
  ['dockerfile:.', { kind: 'dockerfile', dir: '.' }],
  ['oci:/srv/image', { kind: 'oci', path: '/srv/image' }],
  ['archive:a b.tar', { kind: 'archive', path: 'a b.tar' }],
  ['container:web-1', { kind: 'container', name: 'web-1' }],
  ['image:debian', { kind: 'image', ref: 'debian' }],
  ['image:debian:12', { kind: 'image', ref: 'debian:12' }],
  ['image:localhost:5000/a/b:v1.2', { kind: 'image', ref: 'localhost:5000/a/b:v1.2' }],
  [`image:ghcr.io/a/b@${digest}`, { kind: 'image', ref: `ghcr.io/a/b@${digest}` }],
  [`snapshot:${snapshotId}`, { kind: 'snapshot', id: snapshotId }],
  ['snapshot:ready', { kind: 'snapshot', id: 'ready' }],
])('%s is understood and shown the same', (text, source) => {
  expect(parseSource(text)).toEqual(source)
  expect(formatSource(source)).toBe(text)
})

test.each([
  '',
  'Host',
  'host:',
  'dir',
  'dir:',
  'dir:/a\0b',
  'rootfs:/a\nb',
  `dir:/${'x'.repeat(5000)}`,
  'dockerfile:',
  'oci:',
  'archive:',
  'container:',
  'container:-x',
  'container:a/b',
  'image:',
  'image:--privileged',
  'image:a b',
  'image:a:b:c',
  'image:a/../b',
  'image:a@sha256:12',
  'snapshot:',
  'snapshot:../x',
  'git:https://example.org',
  '/srv/app',
])('%j is refused, with what a source may be', (text) => {
  try {
    parseSource(text)
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInputError)
    expect((error as InvalidInputError).remedy).toBeTruthy()
  }
})

test('every path without control characters survives being written and read', () => {
  const path = fc
    .string({ minLength: 1, maxLength: 200 })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the ones that are refused
    .filter((text) => !/[\u0000-\u001f\u007f]/.test(text))
  const source = fc.oneof(
    fc.record({ kind: fc.constantFrom('dir', 'rootfs', 'oci', 'archive'), path }),
    fc.record({ kind: fc.constant('dockerfile'), dir: path }),
  )
  fc.assert(
    fc.property(source, (made) => {
      expect(parseSource(formatSource(made as SourceRequest))).toEqual(made)
    }),
  )
})

test('whatever is accepted holds no control character', () => {
  const text = fc
    .tuple(
      fc.constantFrom('dir:', 'rootfs:', 'image:', 'dockerfile:', 'snapshot:', ''),
      fc.string({ unit: fc.constantFrom(...'ab/.:@-\0\n\r\t\u007f ') }),
    )
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (input) => {
      try {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the ones that are refused
        expect(formatSource(parseSource(input))).not.toMatch(/[\u0000-\u001f\u007f]/)
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidInputError)
      }
    }),
  )
})
