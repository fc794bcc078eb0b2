"""Kills the helper of a snapshot: kill-remapping.py HOME ENVIRONMENT SECONDS. Says a line when it is ready."""
import glob
import os
import sys
import time

home, environment, delay = sys.argv[1], sys.argv[2], float(sys.argv[3])
end = time.time() + 30
print('ready', flush=True)


def find_helper():
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/cmdline', 'rb') as file:
                words = file.read().split(b'\0')
        except OSError:
            continue
        if len(words) > 2 and words[1] == b'waits' and environment.encode() in words[2]:
            return int(name)
    return None


helper = None
while helper is None and time.time() < end:
    helper = find_helper()
plan = f'{home}/data/envs/{environment}/*/remap.plan'
while not glob.glob(plan) and time.time() < end:
    pass
due = time.perf_counter() + delay
while time.perf_counter() < due:
    pass
if helper is not None:
    try:
        os.kill(helper, 9)
    except ProcessLookupError:
        pass
