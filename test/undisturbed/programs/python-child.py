# A child, known by its pid and start time as psutil does it: it is alive, and can be ended.
import os
import signal
import subprocess

from program import end, notice, ready, same, until_over


def identity(pid):
    """psutil: a process is the same if pid and start time are."""
    with open(f'/proc/{pid}/stat') as file:
        return pid, file.read().rpartition(')')[2].split()[19]


child = subprocess.Popen(['sleep', '1000'], stdout=subprocess.PIPE)
known = identity(child.pid)
signals = []
signal.signal(signal.SIGCHLD, lambda number, frame: signals.append(number))
ready()
until_over()
same('the child', known, identity(child.pid))
same('whether it has ended', None, child.poll())
same('signals', [], signals)
os.kill(child.pid, signal.SIGTERM)
same('how it ended', -signal.SIGTERM, child.wait(10))
if len(signals) != 1:
    notice(f'{len(signals)} signals for one child')
end()
