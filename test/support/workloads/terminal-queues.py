# Leaves input that nobody has read in a terminal, complete and incomplete lines, and printed output. Says what it
# finds once /root/over exists.
import os, pty, select, time

master, slave = pty.openpty()


def drain(fd):
    found = b''
    while select.select([fd], [], [], 0.2)[0]:
        found += os.read(fd, 1000)
    return found


os.write(master, b'typed\nhalf')
time.sleep(0.1)
drain(master)  # the echo
os.write(slave, b'line one\nline two')
time.sleep(0.1)
open('/root/ready', 'w').close()
while not os.path.exists('/root/over'):
    time.sleep(0.05)
print(drain(master), drain(slave), flush=True)
os.write(master, b' and half\n')
print(drain(slave), drain(master), flush=True)
