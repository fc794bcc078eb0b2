import { expect, test } from 'vitest'
import { patiently } from '../support/patiently.ts'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { request } from '../support/workloads/http-server.ts'
import { run, runUntilDone, wordsOf } from '../support/workloads/run.ts'

const configuration = `
worker_processes 2;
pid /root/nginx/pid;
error_log /root/nginx/error.log;
events {}
http {
  access_log off;
  server {
    listen 127.0.0.1:8000;
    root /root/nginx;
    location = /slow { limit_rate 100k; }
    location / { return 404; }
    include /root/nginx/marks.conf;
  }
}
`

/** Takes 2 s at the rate it is served: it is in progress when the snapshot is taken. */
const startSlowDownload = `
head -c 200000 /dev/urandom > /root/nginx/slow
curl -s -o /root/nginx/copy http://127.0.0.1:8000/slow &
`

test('nginx keeps its workers, its configuration and a download under way', () =>
  branchThreeWays({
    start: async (env) => {
      await env.files.write('/root/nginx/nginx.conf', configuration, { makeParents: true })
      await run(env, 'chmod 711 /root; cd /root/nginx; echo > marks.conf')
      await run(env, 'nginx -c /root/nginx/nginx.conf')
      await run(env, startSlowDownload)
      await run(env, 'seen=""')
    },
    check: async (env) => {
      expect(await request(env, '/nowhere')).toContain('404')
      // While it reloads, there are the workers before and after.
      await expect.poll(() => run(env, 'pgrep -c -f "nginx: worker"'), patiently).toBe('2')
    },
    mark: async (env, word) => {
      await runUntilDone(env, 'cmp -s /root/nginx/slow /root/nginx/copy')
      // Only a reload makes it answer: the new configuration is in memory.
      await run(env, `echo 'location = /${word} { return 200 marked; }' >> marks.conf`)
      await run(env, `nginx -c /root/nginx/nginx.conf -s reload; seen+="${word} "`)
      await runUntilDone(env, 'test "$(pgrep -c -f "nginx: worker")" = 2')
    },
    marks: async (env) => {
      const known = wordsOf(await run(env, 'echo "$seen"'))
      for (const word of ['original', 'left', 'right', 'later', 'again']) {
        await expect
          .poll(async () => (await request(env, `/${word}`)) === 'marked')
          .toBe(known.includes(word))
      }
      return known
    },
  }))
