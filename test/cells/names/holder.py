"""Opens something inside an environment, removes its name, and puts something else in its place.

    holder.py CASE PLACE TARGET

PLACE is the holder's own directory, TARGET is what links point to. It prints "ready" when everything is set up,
and then answers each line on its standard input with what it sees of the things it holds.
"""
import ctypes
import os
import socket
import subprocess
import sys

case, place, target = sys.argv[1:4]
os.makedirs(place, exist_ok=True)
parent = os.path.join(place, "nb")
victim = os.path.join(parent, "victim")


def replace_parent():
    os.rmdir(parent)
    os.symlink(target, parent)


def write(path, text, mode=0o644):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def deleted_directory():
    os.makedirs(victim)
    held = os.open(victim, os.O_RDONLY)
    os.rmdir(victim)
    replace_parent()
    return lambda: f"{os.fstat(held).st_mode:o} {os.listdir(held)}"


def deleted_file():
    os.makedirs(parent)
    write(victim, "mine", 0o4755)
    held = os.open(victim, os.O_RDWR)
    os.unlink(victim)
    replace_parent()
    return lambda: os.pread(held, 9, 0).decode()


def deleted_fifo():
    os.makedirs(parent)
    os.mkfifo(victim)
    held = os.open(victim, os.O_RDWR)
    os.unlink(victim)
    replace_parent()
    return lambda: f"{os.write(held, b'x')} {os.read(held, 1).decode()}"


def linked_elsewhere():
    os.makedirs(parent)
    write(victim, "mine")
    os.link(victim, os.path.join(place, "other"))
    held = os.open(victim, os.O_RDWR)
    os.unlink(victim)
    replace_parent()
    return lambda: f"{os.pread(held, 9, 0).decode()} {os.fstat(held).st_nlink}"


def nested_directory():
    deep = os.path.join(parent, "s1", "s2")
    os.makedirs(deep)
    held = os.open(deep, os.O_RDONLY)
    os.removedirs(deep)
    os.makedirs(place, exist_ok=True)
    return lambda: f"{os.listdir(held)} {sorted(os.listdir(place))}"


def directory_made_again():
    os.makedirs(victim)
    held = os.open(victim, os.O_RDONLY)
    os.rmdir(victim)
    os.mkdir(victim)
    return lambda: f"{os.listdir(held)} {os.listdir(parent)} {os.fstat(held).st_nlink}"


def long_name():
    os.makedirs(parent)
    path = os.path.join(parent, "n" * 255)
    write(path, "mine")
    held = os.open(path, os.O_RDWR)
    os.unlink(path)
    return lambda: f"{os.pread(held, 9, 0).decode()} {os.listdir(parent)}"


def not_utf8():
    directory = os.fsencode(place) + b"/\xff\xfe"
    os.makedirs(directory)
    with open(directory + b"/victim", "w") as file:
        file.write("mine")
    os.link(directory + b"/victim", os.fsencode(place) + b"/other")
    held = os.open(directory + b"/victim", os.O_RDWR)
    os.unlink(directory + b"/victim")
    return lambda: f"{os.pread(held, 9, 0).decode()} {os.listdir(directory)}"


def working_directory():
    os.makedirs(victim)
    os.chdir(victim)
    os.rmdir(victim)
    replace_parent()
    return lambda: str(os.listdir("."))


def program():
    os.makedirs(parent)
    with open("/bin/sleep", "rb") as source, open(victim, "wb") as copy:
        copy.write(source.read())
    os.chmod(victim, 0o755)
    child = subprocess.Popen([victim, "9999"])
    os.unlink(victim)
    replace_parent()
    return lambda: str(child.poll())


def bound_socket():
    os.makedirs(parent)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(victim)
    listener.listen()
    os.rename(parent, parent + ".moved")
    os.symlink(target, parent)
    return lambda: str(listener.getsockname())


def deleted_socket():
    os.makedirs(parent)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(victim)
    listener.listen()
    os.unlink(victim)
    replace_parent()
    return lambda: str(listener.getsockname())


def socket_through_link():
    """Like programs that bind below /var/run: the link stays within the environment."""
    real = os.path.join(place, "real")
    os.makedirs(real)
    os.symlink(real, parent)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(victim)
    listener.listen()

    def answer():
        client = socket.socket(socket.AF_UNIX)
        client.connect(os.path.join(real, "victim"))
        listener.accept()
        return str(listener.getsockname())

    return answer


def watched_directory():
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs(victim)
    watcher = libc.inotify_init()
    libc.inotify_add_watch(watcher, os.fsencode(victim), 0xFFF)
    os.rename(parent, parent + ".moved")
    os.symlink(target, parent)

    def answer():
        write(os.path.join(parent + ".moved", "victim", "new"), "x")
        return str(len(os.read(watcher, 4096)) > 0)

    return answer


answer = globals()[case.replace("-", "_")]()
print("ready", flush=True)
for line in sys.stdin:
    print(answer(), flush=True)
