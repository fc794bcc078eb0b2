import type { Sandbox as CodeSandbox } from '@e2b/code-interpreter'
import { check, equal, failure, type Stop } from './tour.ts'

/** Each kind of chart that has a name in the client. */
const chartsCode = `import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
plt.figure(); plt.plot([1, 2], [2, 4], label='up'); plt.title('L')
plt.figure(); plt.scatter([1, 2], [5, 6], label='dots')
plt.figure(); plt.bar(['a', 'b'], [3, 4], label='one'); plt.bar(['a', 'b'], [5, 6], label='two')
plt.figure(); plt.barh(['x'], [7])
plt.figure(); plt.pie([1, 3], labels=['p', 'q'])
plt.figure(); plt.boxplot([[1, 2, 3, 4, 5, 20]], labels=['box'])
figure, (left, right) = plt.subplots(1, 2); left.plot([1, 2]); right.scatter([1], [1])
plt.show()`

/** The code interpreter. */
export const interpreterStops: readonly Stop<{ readonly sandbox: CodeSandbox }>[] = [
  {
    method: 'runCode in Python',
    run: async ({ sandbox }) => {
      const lines: string[] = []
      const first = await sandbox.runCode('x = 41\nprint("said")\nx + 1', {
        onStdout: ({ line }) => void lines.push(line),
      })
      equal([first.text, first.logs.stdout, lines], ['42', ['said\n'], ['said\n']])
      // State stays, and so do the variables of one call only as long as it runs.
      const second = await sandbox.runCode('import os\n(x, os.environ["ONCE"])', {
        envs: { ONCE: '1' },
      })
      equal(second.text, "(41, '1')")
      equal((await sandbox.runCode('"ONCE" in os.environ')).text, 'False')
    },
  },
  {
    method: 'rich results',
    run: async ({ sandbox }) => {
      const code = `class Rich:
  def _repr_html_(self): return '<b>r</b>'
  def _repr_svg_(self): return '<svg/>'
  def _repr_png_(self): return b'png'
  def _repr_json_(self): return {'a': 1}
  def _repr_markdown_(self): return '# m'
display(Rich())
Rich()`
      const { results } = await sandbox.runCode(code)
      equal(results.length, 2)
      const [shown, main] = results
      equal(
        [main?.html, main?.svg, main?.markdown, main?.isMainResult, shown?.isMainResult],
        ['<b>r</b>', '<svg/>', '# m', true, false],
      )
      equal([main?.json, main?.png?.trim()], [{ a: 1 }, Buffer.from('png').toString('base64')])
    },
  },
  {
    method: 'charts of matplotlib as data',
    run: async ({ sandbox }) => {
      const { results, error } = await sandbox.runCode(chartsCode)
      equal(error?.value, undefined)
      const charts = results.map(({ chart }) => chart)
      equal(
        charts.map((chart) => chart?.type),
        ['line', 'scatter', 'bar', 'bar', 'pie', 'box_and_whisker', 'superchart'],
      )
      check(
        results.every(({ png }) => png?.startsWith('iVBOR')),
        'a chart has no picture',
      )
      const [line, scatter, bars, wide, pie, boxes, both] = charts
      equal(
        [line?.title, line?.elements],
        [
          'L',
          [
            {
              label: 'up',
              points: [
                [1, 2],
                [2, 4],
              ],
            },
          ],
        ],
      )
      equal(scatter?.elements, [
        {
          label: 'dots',
          points: [
            [1, 5],
            [2, 6],
          ],
        },
      ])
      equal(bars?.elements, [
        { label: 'a', group: 'one', value: 3 },
        { label: 'b', group: 'one', value: 4 },
        { label: 'a', group: 'two', value: 5 },
        { label: 'b', group: 'two', value: 6 },
      ])
      equal(wide?.elements, [{ label: 'x', group: 'Group 1', value: 7 }])
      equal(
        pie?.elements.map(({ label, angle }) => [label, Math.round(angle)]),
        [
          ['p', 90],
          ['q', 270],
        ],
      )
      const quartiles = { first_quartile: 2.25, median: 3.5, third_quartile: 4.75 }
      equal(boxes?.elements, [{ label: 'box', min: 1, ...quartiles, max: 5, outliers: [20] }])
      equal(
        both?.elements.map(({ type }) => type),
        ['line', 'scatter'],
      )
    },
  },
  {
    method: 'errors with a traceback',
    run: async ({ sandbox }) => {
      const { error, logs } = await sandbox.runCode(
        'import sys\nprint("oh", file=sys.stderr)\ndef inner(): raise ValueError("no")\ninner()',
      )
      equal([error?.name, error?.value, logs.stderr], ['ValueError', 'no', ['oh\n']])
      check(/inner\(\)/.test(error?.traceback ?? ''), String(error?.traceback))
      check(/SyntaxError/.test((await sandbox.runCode('def (')).error?.name ?? ''), 'no error')
    },
  },
  {
    method: 'subprocesses, await and shell lines',
    run: async ({ sandbox }) => {
      const { logs, text } = await sandbox.runCode(
        '!echo shell\nimport asyncio, subprocess\nsubprocess.run(["echo", "sub"])\nawait asyncio.sleep(0, "slept")',
      )
      equal([logs.stdout.join(''), text], ['shell\nsub\n', "'slept'"])
    },
  },
  {
    method: 'runCode in JavaScript, TypeScript and bash',
    run: async ({ sandbox }) => {
      await sandbox.runCode('const kept = 20', { language: 'js' })
      const script = await sandbox.runCode('console.log("log"); await Promise.resolve(kept + 1)', {
        language: 'javascript',
      })
      equal([script.text, script.logs.stdout], ['21', ['log\n']])
      const thrown = await sandbox.runCode('throw new TypeError("t")', { language: 'js' })
      equal([thrown.error?.name, thrown.error?.value], ['TypeError', 't'])
      const typed = await sandbox.runCode('const n: number = 3; n', { language: 'ts' })
      equal(typed.text, '3')
      await sandbox.runCode('cd /tmp; V=3', { language: 'bash' })
      const shell = await sandbox.runCode('pwd; echo $V; false', { language: 'bash' })
      equal([shell.logs.stdout.join(''), shell.error?.value], ['/tmp\n3\n', 'exit status 1'])
    },
  },
  {
    method: 'createCodeContext, listCodeContexts, restartCodeContext, removeCodeContext',
    run: async ({ sandbox }) => {
      const context = await sandbox.createCodeContext({ cwd: '/tmp', language: 'python' })
      const { text } = await sandbox.runCode('y = 1\nimport os\nos.getcwd()', { context })
      equal(text, "'/tmp'")
      equal((await sandbox.runCode('"y" in globals()')).text, 'False')
      check(
        (await sandbox.listCodeContexts()).some(({ id }) => id === context.id),
        'not listed',
      )
      await sandbox.restartCodeContext(context)
      equal((await sandbox.runCode('"y" in globals()', { context })).text, 'False')
      await sandbox.removeCodeContext(context)
      check(!(await sandbox.listCodeContexts()).some(({ id }) => id === context.id), 'listed')
    },
  },
  {
    method: 'a timeout interrupts the code, not the session',
    run: async ({ sandbox }) => {
      const error = await failure(sandbox.runCode('while True: pass', { timeoutMs: 300 }))
      equal(error.name, 'TimeoutError')
      equal((await sandbox.runCode('x')).text, '41')
    },
  },
  {
    method: 'state in forks, snapshots and after a pause',
    run: async ({ sandbox }) => {
      const [copy] = (await sandbox.fork()) as CodeSandbox[]
      check(copy !== undefined && !(copy instanceof Error), String(copy))
      equal((await copy.runCode('x += 1; x')).text, '42')
      equal((await sandbox.runCode('x')).text, '41')
      await copy.kill()
      // A snapshot in the middle of a run disturbs nothing.
      const running = sandbox.runCode(
        'import time\nfor i in range(8):\n  print(i); time.sleep(0.1)',
      )
      await sandbox.createSnapshot()
      equal((await running).logs.stdout.join('').replaceAll('\n', ''), '01234567')
      await sandbox.pause()
      await sandbox.connect()
      equal((await sandbox.runCode('x')).text, '41')
    },
  },
]
