/* Intrusive doubly linked list. An unlinked node points at itself. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

#define LIST_INIT(name) { &(name), &(name) }

static inline void list_init(struct list *node)
{
	node->next = node->prev = node;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

static inline void list_append(struct list *head, struct list *node)
{
	node->next = head;
	node->prev = head->prev;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* Moves every node of `from` to the end of `to`. */
static inline void list_splice(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_for_each(node, head) for (struct list *node = (head)->next; node != (head); node = node->next)

/* The body may remove and free `node`. */
#define list_for_each_safe(node, head)                                                             \
	for (struct list *node = (head)->next, *node##_next = node->next; node != (head);              \
	     node = node##_next, node##_next = node->next)
