/* Listings in memory that are sent as the host's window allows. */
#pragma once

#include "buffer.h"
#include "stream.h"

/* Takes the records over, and sends RESULT after all of them. */
void records_send(struct stream *stream, struct buffer *records);

/* Sends on channel 1 as many of the records as it can. */
void records_flush(struct stream *stream, struct buffer *records);
