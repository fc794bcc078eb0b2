import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { Environment } from '../../../src/index.ts'

/** Runs a command line in the persistent shell; its output, without the line break at the end. */
export async function run(env: Environment, command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await env.exec(command, { timeoutMs: 30_000 })
  expect(exitCode, `${command}\n${stdout}${stderr}`).toBe(0)
  return stdout.trimEnd()
}

/** Runs a command line as another user. */
export async function runAs(env: Environment, user: string, command: string): Promise<string> {
  const words = ['bash', '-c', command]
  const { exitCode, stdout, stderr } = await env.exec(words, { mode: 'process', user, cwd: '/' })
  expect(exitCode, `${command}\n${stdout}${stderr}`).toBe(0)
  return stdout.trimEnd()
}

/** Polls until the command line succeeds. */
export async function runUntilDone(env: Environment, command: string): Promise<void> {
  await expect
    .poll(async () => (await env.exec(command)).exitCode, {
      timeout: 60_000,
      interval: 50,
      message: command,
    })
    .toBe(0)
}

/** Puts a program of this directory into the environment, under /root. */
export async function bring(env: Environment, name: string): Promise<string> {
  const path = `/root/${name}`
  await env.files.write(path, readFileSync(new URL(name, import.meta.url)))
  return path
}

export async function bringDirectory(env: Environment, name: string): Promise<string> {
  const path = `/root/${name}`
  await env.files.upload(fileURLToPath(new URL(name, import.meta.url)), path)
  return path
}

/** The words of a text, none if it is empty. */
export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}
