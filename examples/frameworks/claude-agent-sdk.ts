// Claude Code itself runs inside an environment: what it does happens there, and can be branched. Before the
// risky step the environment is forked: two agents try one change each, and the better one is kept. The
// model is a script that answers inside, so that this needs no network; with a key of your own, and a
// network (`net: 'nat'`), leave out the server and the variables.
import { query } from '@anthropic-ai/claude-agent-sdk'
import { type Environment, Forkpoint } from 'forkpoint'
import { claudeInside } from 'forkpoint/integrations/claude-agent-sdk'

/** Answers as the API does: the next command of a list, until all were run. */
const server = `
import http.server, json
class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words): pass
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])) or "{}")
        results = sum(part.get("type") == "tool_result" for message in asked.get("messages", [])
                      if isinstance(message["content"], list) for part in message["content"])
        commands = json.load(open("/tmp/commands.json"))
        if asked.get("tools") and results < len(commands):
            block, reason = {"type": "tool_use", "id": f"toolu_{results}", "name": "Bash", "input": {}}, "tool_use"
            delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": commands[results]})}
        else:
            block, reason = {"type": "text", "text": ""}, "end_turn"
            delta = {"type": "text_delta", "text": "done"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        events = [{"type": "message_start", "message": message},
                  {"type": "content_block_start", "index": 0, "content_block": block},
                  {"type": "content_block_delta", "index": 0, "delta": delta},
                  {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
                  {"type": "message_stop"}]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\\ndata: {json.dumps(event)}\\n\\n".encode())
http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Model).serve_forever()
`

const variables = {
  ANTHROPIC_API_KEY: 'scripted',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:8080',
  CLAUDE_CONFIG_DIR: '/tmp/claude',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
}

/** An agent in this environment that runs these commands; returns what it says at the end. */
async function work(env: Environment, prompt: string, commands: readonly string[]) {
  await env.files.write('/tmp/commands.json', JSON.stringify(commands))
  const spawnClaudeCodeProcess = claudeInside(env, { cwd: '/app' })
  const options = {
    spawnClaudeCodeProcess,
    allowedTools: ['Bash'],
    settingSources: [],
    env: variables,
  }
  for await (const message of query({ prompt, options })) {
    if (message.type === 'result')
      return message.subtype === 'success' ? message.result : message.subtype
  }
  return 'nothing'
}

await using fp = await Forkpoint.open()
const env = await fp.create()
const tries: Environment[] = []
try {
  await env.files.write('/app/model.py', server, { makeParents: true })
  await env.spawn(['python3', '/app/model.py'], { mode: 'process' })
  console.log(await work(env, 'write a list', ['printf "b\\na\\nb\\n" > /app/list']))
  const ready = await env.snapshot({ message: 'a list' })

  // The server runs on in each fork.
  tries.push(...(await env.fork(2)))
  const changes = ['uniq list > out', 'sort -u list > out']
  await Promise.all(
    tries.map((each, index) => work(each, 'remove duplicates', [changes[index] ?? ''])),
  )
  const lines = await Promise.all(
    tries.map(async (each) => (await each.exec('wc -l < /app/out')).stdout.trim()),
  )
  console.log(lines.join(' and '))
  const best = tries[lines.indexOf('2')]
  if (best !== undefined) await env.promote(best)
  console.log(JSON.stringify((await env.exec('cat /app/out')).stdout))

  await env.restore(ready)
  console.log((await env.exec('ls /app')).stdout.trim().replaceAll('\n', ' '))
} finally {
  for (const each of [...tries, env]) await each.remove()
}

// → done
// → 3 and 2
// → "a\nb\n"
// → list model.py
