import { pythonCharts } from './python-charts.ts'

/**
 * A Python session, which runs inside: one JSON request a line on stdin, one JSON event a line on stdout. It
 * is the shell of IPython where that is installed (Debian's ipykernel brings it), and plain Python otherwise.
 * It is passed with `python3 -c`, so that no file of the environment changes.
 */
export const pythonKernel = String.raw`
import ast, asyncio, base64, fcntl, inspect, io, json, linecache, os, select, signal, subprocess, sys, termios, threading, time, traceback

os.environ.setdefault('MPLBACKEND', 'Agg')
requests = os.fdopen(os.dup(0), 'r', encoding='utf-8')
events = os.fdopen(os.dup(1), 'w', encoding='utf-8')
os.set_inheritable(requests.fileno(), False)
os.set_inheritable(events.fileno(), False)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

lock = threading.Lock()
current = None

def emit(kind, **fields):
    if kind not in ('stdout', 'stderr'):
        for writer in writers: writer.flush()
    with lock:
        events.write(json.dumps({'id': current, 'type': kind, **fields}, default=str) + '\n')
        events.flush()

writers = []

class Writer(io.TextIOBase):
    """What Python code prints, by lines, in order with results."""
    def __init__(self, kind, fd):
        self.kind, self.fd, self.begun = kind, fd, ''
        writers.append(self)
    encoding = 'utf-8'
    errors = 'replace'
    def fileno(self): return self.fd
    def writable(self): return True
    def isatty(self): return False
    def write(self, text):
        self.begun += text
        if '\n' in text or len(self.begun) > 8192: self.flush()
        return len(text)
    def flush(self):
        text, self.begun = self.begun, ''
        if text: emit(self.kind, text=text)

class Pipe:
    """What subprocesses print, which have the numbers 1 and 2 and know nothing of the writers."""
    def __init__(self, kind, fd):
        self.kind, self.lock = kind, threading.Lock()
        self.reading, writing = os.pipe()
        os.dup2(writing, fd)
        os.close(writing)
        threading.Thread(target=self.run, daemon=True).start()
    def run(self):
        while True:
            select.select([self.reading], [], [])
            with self.lock:
                chunk = os.read(self.reading, 65536)
                emit(self.kind, text=chunk.decode('utf-8', 'replace'))
    def drain(self):
        waiting = bytearray(4)
        for _ in range(1000):
            with self.lock: fcntl.ioctl(self.reading, termios.FIONREAD, waiting)
            if not any(waiting): return
            time.sleep(0.001)

pipes = [Pipe('stdout', 1), Pipe('stderr', 2)]
sys.stdout, sys.stderr = Writer('stdout', 1), Writer('stderr', 2)

formats = {
    'text/plain': 'text', 'text/html': 'html', 'text/markdown': 'markdown', 'image/svg+xml': 'svg',
    'image/png': 'png', 'image/jpeg': 'jpeg', 'application/pdf': 'pdf', 'text/latex': 'latex',
    'application/json': 'json', 'application/javascript': 'javascript',
}
methods = {
    '_repr_html_': 'text/html', '_repr_markdown_': 'text/markdown', '_repr_svg_': 'image/svg+xml',
    '_repr_png_': 'image/png', '_repr_jpeg_': 'image/jpeg', '_repr_pdf_': 'application/pdf',
    '_repr_latex_': 'text/latex', '_repr_json_': 'application/json',
    '_repr_javascript_': 'application/javascript',
}

def bundle_of(value):
    bundle = {'text/plain': repr(value)}
    if isinstance(value, type): return bundle
    mimes = getattr(value, '_repr_mimebundle_', None)
    if callable(mimes):
        made = mimes()
        bundle.update(made[0] if isinstance(made, tuple) else made or {})
    for name, mime in methods.items():
        method = getattr(value, name, None)
        if not callable(method): continue
        made = method()
        if isinstance(made, tuple): made = made[0]
        if made is not None: bundle[mime] = made
    return bundle

def emit_bundle(bundle, is_main, value=None):
    fields, extra = {}, {}
    for mime, content in bundle.items():
        if isinstance(content, (bytes, bytearray)): content = base64.b64encode(content).decode()
        if mime in formats: fields[formats[mime]] = content
        else: extra[mime] = content
    frame = table_of(value)
    if frame is not None: fields['data'] = frame
    emit('result', is_main_result=is_main, **fields, **({'extra': extra} if extra else {}))

def table_of(value):
    """The columns of a DataFrame."""
    if type(value).__name__ != 'DataFrame' or not hasattr(value, 'to_dict'): return None
    return json.loads(json.dumps(value.to_dict(orient='list'), default=str))

def show(*values, **ignored):
    for value in values: emit_bundle(bundle_of(value), False, value)

def error_of(kind, value, trace):
    emit('error', name=getattr(kind, '__name__', str(kind)), value=str(value), traceback=trace)
${pythonCharts}
def flush_figures():
    pyplot = sys.modules.get('matplotlib.pyplot')
    if pyplot is None: return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        image = io.BytesIO()
        figure.savefig(image, format='png', bbox_inches='tight')
        chart = chart_of(figure)
        emit('result', is_main_result=False, text=repr(figure),
             png=base64.b64encode(image.getvalue()).decode(), **({'chart': chart} if chart else {}))
    pyplot.close('all')

class Plain:
    """A session without IPython."""
    def __init__(self):
        import types
        self.module = types.ModuleType('__main__')
        sys.modules['__main__'] = self.module
        self.names = self.module.__dict__
        self.names['display'] = show
        self.names['__builtins__'] = __builtins__
        self.count = 0
        self.loop = asyncio.new_event_loop()

    def run(self, code):
        self.count += 1
        name = '<cell %d>' % self.count
        try:
            try: tree = ast.parse(code, name)
            except SyntaxError:
                code = with_shell_lines(code)
                tree = ast.parse(code, name)
            linecache.cache[name] = (len(code), None, code.splitlines(True), name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            self.evaluate(compile(tree, name, 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
            if last is not None:
                value = self.evaluate(
                    compile(ast.Expression(last.value), name, 'eval', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
                self.names['_'] = value
                if value is not None: emit_bundle(bundle_of(value), True, value)
        except SystemExit: pass
        except BaseException as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_code.co_filename == '<string>': trace = trace.tb_next
            lines = traceback.format_exception(type(error), error, trace)
            error_of(type(error), error, ''.join(lines))

    def evaluate(self, code):
        value = eval(code, self.names)
        if code.co_flags & inspect.CO_COROUTINE: return self.loop.run_until_complete(value)
        return value

def with_shell_lines(code):
    """Lines that begin with an exclamation mark, and %pip, as in a notebook."""
    def line(text):
        rest = text.lstrip()
        indent = text[:len(text) - len(rest)]
        if rest.startswith('!'): command = rest[1:]
        elif rest.startswith('%pip '): command = sys.executable + ' -m ' + rest[1:]
        else: return text
        return '%s__import__("subprocess").run(%r, shell=True) and None' % (indent, command)
    return '\n'.join(line(text) for text in code.split('\n'))

def ipython():
    """A session of IPython; None where it is not installed."""
    try:
        from IPython.core.displayhook import DisplayHook
        from IPython.core.displaypub import DisplayPublisher
        from IPython.core.interactiveshell import InteractiveShell
    except Exception: return None
    last = {}
    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, **ignored): emit_bundle(data, False)
    class Hook(DisplayHook):
        def write_output_prompt(self): pass
        def write_format_data(self, format_dict, md_dict=None): last['bundle'] = format_dict
        def finish_displayhook(self): pass
        def log_output(self, format_dict): pass
    class Shell(InteractiveShell):
        displayhook_class = Hook
        display_pub_class = Publisher
        # The usual one gives a command a terminal, which prints other ends of lines.
        system = InteractiveShell.system_raw
        def _showtraceback(self, kind, value, lines):
            text = '\n'.join(lines) if isinstance(lines, list) else str(lines)
            error_of(kind, value, text)
    shell = Shell.instance(colors='NoColor')
    shell.history_manager.enabled = False
    class Session:
        count = 0
        def run(self, code):
            self.count = shell.execution_count
            last.clear()
            result = shell.run_cell(code, store_history=True)
            if 'bundle' in last: emit_bundle(last['bundle'], True, result.result)
    return Session()

session = None if 'FORKPOINT_PLAIN_KERNEL' in os.environ else ipython()
kind = 'plain' if session is None else 'ipython'
session = session or Plain()
emit('ready', kernel=kind)
signal.signal(signal.SIGINT, signal.default_int_handler)

def request_of(line):
    """None for what was cut short; it comes again."""
    try: return json.loads(line)
    except ValueError: return None

def serve():
    global current
    last = None
    while True:
        try:
            line = requests.readline()
            if not line: return
            request = request_of(line)
            if request is None or request['id'] == last: continue
            current = last = request['id']
            kept = {name: os.environ.get(name) for name in request.get('envs', {})}
            os.environ.update(request.get('envs', {}))
            try: session.run(request['code'])
            finally:
                for name, value in kept.items():
                    if value is None: os.environ.pop(name, None)
                    else: os.environ[name] = value
            flush_figures()
        except KeyboardInterrupt: pass
        except Exception as error: error_of(type(error), error, traceback.format_exc())
        if current is None: continue
        for pipe in pipes: pipe.drain()
        emit('number_of_executions', execution_count=session.count)
        emit('end')
        current = None

serve()
`
