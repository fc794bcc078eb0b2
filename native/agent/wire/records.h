/* Listings that are ready in memory, sent as the host's window allows. */
#pragma once

#include "buffer.h"
#include "stream.h"

/* Takes the records over; RESULT when all were sent. */
void records_send(struct stream *stream, struct buffer *records);

/* Sends what it can of a buffer of records on channel 1. */
void records_flush(struct stream *stream, struct buffer *records);
