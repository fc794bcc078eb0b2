import { nativeProgram } from './native-program.ts'
import { mustRun, type ToolOptions } from './run-tool.ts'

/** Runs a verb of `native/cell`; fails with its last words. */
export function runCell(
  doing: string,
  args: readonly string[],
  options?: ToolOptions,
): Promise<string> {
  return mustRun(doing, nativeProgram('cell'), args, options)
}
