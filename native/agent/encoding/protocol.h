/* The wire format of docs/agent-protocol.md: frame types, field keys, limits. */
#pragma once

#define PROTOCOL_VERSION 1
#define FRAME_HEADER 12
#define FRAME_MAX 131072
#define WINDOW_START 262144
#define RECORD_MAX 65536
#define OPEN_MAX_BYTES (4 << 20)

#define MAX_CONNECTIONS 64

/* What this agent can do that the first ones could not. */
#define FEATURE_TREES 1
#define FEATURE_XATTRS 2
#define MAX_STREAMS 4096

enum frame_type {
  FRAME_HELLO = 1,
  FRAME_OPEN,
  FRAME_DATA,
  FRAME_WINDOW,
  FRAME_END,
  FRAME_RESULT,
  FRAME_ERROR,
  FRAME_CANCEL,
  FRAME_EVENT,
  FRAME_PING,
  FRAME_PONG,
};

/* Header flag of OPEN: more fields follow in the next OPEN of this stream. */
#define OPEN_MORE 1

enum channel_number { CHANNEL_IN, CHANNEL_OUT, CHANNEL_ERR, CHANNELS };

enum field_key {
  KEY_VERSION = 1,
  KEY_OP = 2,
  KEY_ERRNO = 3,
  KEY_MESSAGE = 4,
  KEY_FLAGS = 5,
  KEY_MAX_FRAME = 6,
  KEY_WINDOW = 7,
  KEY_MAX_STREAMS = 8,
  KEY_MAX_CONNECTIONS = 9,
  KEY_ID = 10,
  KEY_MODE_EXEC = 11,
  KEY_COMMAND = 12,
  KEY_ARGV = 13,
  KEY_SHELL = 14,
  KEY_CWD = 15,
  KEY_ENV = 16,
  KEY_USER = 17,
  KEY_TIMEOUT_MS = 18,
  KEY_STDIN = 19,
  KEY_GRACE_MS = 20,
  KEY_EXIT_CODE = 21,
  KEY_SIGNAL = 22,
  KEY_TIMED_OUT = 23,
  KEY_SHELL_GONE = 24,
  KEY_DURATION_US = 25,
  KEY_STDOUT_OFFSET = 26,
  KEY_STDERR_OFFSET = 27,
  KEY_PID = 28,
  KEY_RUNNING = 29,
  KEY_PATH = 30,
  KEY_TARGET = 31,
  KEY_MODE = 32,
  KEY_SIZE = 33,
  KEY_MTIME_NS = 34,
  KEY_UID = 35,
  KEY_GID = 36,
  KEY_TYPE = 37,
  KEY_OFFSET = 38,
  KEY_NAME = 39,
  KEY_BLOCKS = 40,
  KEY_EVENT = 41,
  KEY_COOKIE = 42,
  KEY_NLINK = 43,
  KEY_CONTENT = 44,
  KEY_XATTR = 45,
  KEY_COLS = 50,
  KEY_ROWS = 51,
  KEY_REPLAY_BYTES = 52,
  KEY_DRAWN_COLS = 53,
  KEY_DRAWN_ROWS = 54,
  KEY_HOST = 60,
  KEY_PORT = 61,
  KEY_HOSTNAME = 70,
  KEY_MACHINE_ID = 71,
  KEY_RSS_BYTES = 72,
  KEY_OPEN_FDS = 73,
  KEY_COMMANDS = 74,
  KEY_CONNECTIONS = 75,
  KEY_FEATURES = 76,
  KEY_STARTED_MS = 77,
  KEY_ENDED_MS = 78,
};

/* Flag of exec.start: in a copy of the shell. */
#define EXEC_IN_COPY 1

/* Flag of exec.list: those that have ended, also if their output is gone. */
#define LIST_ENDED 1

/* Flag of exec.attach: read along, and take the command from nobody. */
#define ATTACH_WATCH 1

/* Flag of exec.list: also the last command. */
#define LIST_LAST 2

/* Flag of exec.forget: it stays among those that have ended, and the end of its output as that of the last command. */
#define FORGET_BUT_LAST 1

enum op {
  OP_EXEC_START = 1,
  OP_EXEC_ATTACH = 2,
  OP_EXEC_SIGNAL = 3,
  OP_EXEC_LIST = 4,
  OP_EXEC_FORGET = 5,
  OP_SHELL_LIST = 6,
  OP_SHELL_CLOSE = 7,
  OP_TERM_OPEN = 10,
  OP_TERM_RESIZE = 11,
  OP_TERM_LIST = 12,
  OP_TERM_CLOSE = 13,
  OP_FILE_STAT = 20,
  OP_FILE_LIST = 21,
  OP_FILE_READ = 22,
  OP_FILE_WRITE = 23,
  OP_FILE_MKDIR = 24,
  OP_FILE_RENAME = 25,
  OP_FILE_REMOVE = 26,
  OP_FILE_SYMLINK = 27,
  OP_FILE_SETATTR = 28,
  OP_FILE_WATCH = 29,
  OP_TREE_WRITE = 30,
  OP_TREE_READ = 31,
  OP_PORT_CONNECT = 40,
  OP_IDENTITY = 50,
  OP_INFO = 51,
  OP_QUIESCE = 52,
  OP_CONFIGURE = 53,
};
