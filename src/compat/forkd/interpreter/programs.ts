/** Of what code prints or gives, in characters. */
const longestText = 256 * 1024

/**
 * Keeps an interpreter, and evaluates what comes to its socket, one after the other. A lock decides between two
 * that were started at once.
 */
export const keeper = `
import ast, contextlib, fcntl, io, json, os, socket, sys, traceback
path = sys.argv[1]
lock = open(path + '.lock', 'w')
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit(0)
os.umask(0o077)
with contextlib.suppress(FileNotFoundError):
    os.unlink(path)
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen(64)
names = {'__name__': '__main__'}
longest = ${longestText}
with contextlib.suppress(Exception):
    import numpy
    names.update(numpy=numpy, np=numpy)

def evaluate(code):
    tree = ast.parse(code, '<eval>')
    is_alone = len(tree.body) == 1
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, '<eval>', 'exec'), names)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), '<eval>', 'eval'), names)
    return repr(value)[:longest] if is_alone or value is not None else None

def answer(code):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            told = {'result': evaluate(code), 'error': None, 'exit_code': 0}
        except BaseException as error:
            words = f'{type(error).__name__}: {error}'[:longest]
            told = {'result': None, 'error': words, 'traceback': traceback.format_exc()[-longest:], 'exit_code': 1}
    return {**told, 'stdout': printed.getvalue()[:longest]}

while True:
    client, _ = server.accept()
    with client, contextlib.suppress(OSError):
        code = b''.join(iter(lambda: client.recv(65536), b''))
        client.sendall(json.dumps(answer(code.decode())).encode())
`

/** How \`asker\` ends if nobody listens. */
export const nobodyCode = 75

/** Sends its stdin to the keeper, and prints the answer. The second argument says how long to wait for one. */
export const asker = `
import socket, sys, time
code = sys.stdin.buffer.read()
until = time.monotonic() + float(sys.argv[2])
while True:
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(sys.argv[1])
        break
    except OSError:
        if time.monotonic() >= until:
            sys.exit(${nobodyCode})
        time.sleep(0.02)
client.sendall(code)
client.shutdown(socket.SHUT_WR)
for piece in iter(lambda: client.recv(65536), b''):
    sys.stdout.buffer.write(piece)
`
