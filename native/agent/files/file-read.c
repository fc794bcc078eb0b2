#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

#define OFFSET_BYTES 8
#define SLICE 65536

/* Smaller frames than this wait for more window, unless they end the file. */
#define SMALLEST 4096

struct reading {
	int fd;
	int64_t position, end; /* next byte, and where the caller's limit lies */
	int64_t data_end;      /* the data that position lies in goes so far */
	bool dense;            /* the filesystem tells of no holes here */
	char *path;
};

/* Moves to the next data. False at the end of the file. */
static bool find_data(struct reading *reading)
{
	if (reading->dense || reading->position < reading->data_end)
		return true;
	off_t data = lseek(reading->fd, reading->position, SEEK_DATA);
	if (data < 0) {
		reading->dense = errno != ENXIO;
		lseek(reading->fd, reading->position, SEEK_SET);
		return reading->dense;
	}
	reading->data_end = lseek(reading->fd, data, SEEK_HOLE);
	reading->position = lseek(reading->fd, data, SEEK_SET);
	return true;
}

static void finish(struct stream *stream, struct reading *reading)
{
	autobuffer struct buffer result = { 0 };
	struct stat status;

	if (fstat(reading->fd, &status) < 0) {
		stream_fail(stream, errno, "fstat '%s': %s", reading->path, strerror(errno));
		return;
	}
	/* Files of /proc say 0 and hold something all the same. */
	put_int(&result, KEY_SIZE, status.st_size ? status.st_size : reading->position);
	put_int(&result, KEY_MODE, status.st_mode & 07777);
	put_int(&result, KEY_MTIME_NS, nanoseconds_of(&status.st_mtim));
	stream_result(stream, &result);
}

/* How much the next frame may carry, 0 to wait for more window. */
static size_t frame_room(struct stream *stream, const struct reading *reading)
{
	size_t allowed = stream_allowance(stream, CHANNEL_OUT, SLICE + OFFSET_BYTES);
	int64_t left = reading->end - reading->position;

	if (!reading->dense && reading->data_end < reading->end)
		left = reading->data_end - reading->position;
	if (allowed < SMALLEST)
		return 0;
	return min_size(allowed - OFFSET_BYTES, left);
}

static void pump(struct stream *stream)
{
	static uint8_t frame[OFFSET_BYTES + SLICE];
	struct reading *reading = stream->context;

	if (reading->position >= reading->end || !find_data(reading) || reading->position >= reading->end) {
		finish(stream, reading);
		return;
	}
	size_t room = frame_room(stream, reading);
	if (!room)
		return;
	ssize_t got = read(reading->fd, frame + OFFSET_BYTES, room);
	if (got < 0) {
		stream_fail(stream, errno, "read '%s': %s", reading->path, strerror(errno));
		return;
	}
	if (got == 0) {
		finish(stream, reading);
		return;
	}
	store_u64(frame, reading->position);
	struct iovec piece = { frame, OFFSET_BYTES + got };
	stream_send(stream, CHANNEL_OUT, &piece, 1);
	reading->position += got;
	stream_wake(stream);
}

static void closed(struct stream *stream)
{
	struct reading *reading = stream->context;

	close(reading->fd);
	free(reading->path);
	free(reading);
}

static const struct stream_ops ops = { .pump = pump, .closed = closed };

/* Opens a regular file. A FIFO or device could block the agent, or act. */
static int open_regular(const char *path, struct stat *status)
{
	if (stat(path, status) < 0)
		return -1;
	autoclose int fd = -1;
	if (S_ISREG(status->st_mode)) {
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, status) < 0)
			return -1;
	}
	if (!S_ISREG(status->st_mode)) {
		errno = S_ISDIR(status->st_mode) ? EISDIR : EINVAL;
		return -1;
	}
	return take_fd(&fd);
}

void op_file_read(struct stream *stream, const struct fields *fields)
{
	char *path = path_field(stream, fields, KEY_PATH);
	int64_t offset = fields_int(fields, KEY_OFFSET, 0), limit = fields_int(fields, KEY_SIZE, INT64_MAX);
	struct stat status;

	if (!path)
		return;
	int fd = open_regular(path, &status);
	struct reading *reading = fd < 0 ? NULL : calloc(1, sizeof *reading);
	if (!reading || offset < 0 || limit < 0) {
		int failure = reading ? EINVAL : errno;
		stream_fail(stream, failure, "read '%s': %s", path,
			    failure == EINVAL ? "not a regular file, or a negative offset or size" : strerror(failure));
		close_fd(&fd);
		free(reading);
		free(path);
		return;
	}
	*reading = (struct reading){
		.fd = fd,
		.position = offset,
		.end = limit > INT64_MAX - offset ? INT64_MAX : offset + limit,
		.dense = status.st_size == 0 || status.st_blocks * 512 >= status.st_size,
		.path = path,
	};
	lseek(fd, offset, SEEK_SET);
	stream_adopt(stream, &ops, reading);
	stream_wake(stream);
}
