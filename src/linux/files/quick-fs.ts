import * as fs from 'node:fs'
import type * as promises from 'node:fs/promises'

/**
 * Functions of `node:fs/promises` for small things that the kernel has in memory. Such a call takes a few
 * microseconds; going through Node's thread pool takes a hundred times as long.
 */
type Call = (...args: never[]) => unknown

function quickly<Same>(call: Call): Same {
  return (async (...args: never[]) => call(...args)) as Same
}

export const readFile = quickly<typeof promises.readFile>(fs.readFileSync)
export const writeFile = quickly<typeof promises.writeFile>(fs.writeFileSync)
export const readdir = quickly<typeof promises.readdir>(fs.readdirSync)
export const statfs = quickly<typeof promises.statfs>(fs.statfsSync)
export const stat = quickly<typeof promises.stat>(fs.statSync)
export const lstat = quickly<typeof promises.lstat>(fs.lstatSync)
export const mkdir = quickly<typeof promises.mkdir>(fs.mkdirSync)
export const rename = quickly<typeof promises.rename>(fs.renameSync)
export const link = quickly<typeof promises.link>(fs.linkSync)
export const unlink = quickly<typeof promises.unlink>(fs.unlinkSync)
export const rm = quickly<typeof promises.rm>(fs.rmSync)
export const rmdir = quickly<typeof promises.rmdir>(fs.rmdirSync)
export const chmod = quickly<typeof promises.chmod>(fs.chmodSync)
export const chown = quickly<typeof promises.chown>(fs.chownSync)
export const truncate = quickly<typeof promises.truncate>(fs.truncateSync)
