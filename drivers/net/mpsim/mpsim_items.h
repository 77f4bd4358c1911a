/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_ITEMS_H
#define MPSIM_ITEMS_H

#include "mpsim_match.h"

/**
 * @file
 * The items of a pattern for mpsim_match.c: the header of each, where it may occur, and what it
 * requires beyond its header.
 */

/* Position in the pattern. */
enum mpsim_item_stage {
	AT_START = 1 << 0,
	AT_PORT = 1 << 1,
	AT_L2 = 1 << 2,
	AT_L3 = 1 << 3,
	AT_FRAG = 1 << 4,
	AT_L4 = 1 << 5,
	AT_TUNNEL = 1 << 6,
};

#define AT_BOTTOM (AT_START | AT_PORT | AT_TUNNEL)

struct mpsim_reader {
	struct mpsim_match *match;
	struct rte_flow_error *error;
	unsigned int stage;
	unsigned int level; /* 1 inside of a tunnel */
	unsigned int tags;  /* seen at this level */
};

/* A kind of item: its header, and where it may occur. */
struct mpsim_item {
	enum rte_flow_item_type type;
	const char *name;
	const void *mask; /* default, if the item has none */
	uint8_t header;   /* length of the header that the item begins with, in network format */
	uint8_t at;       /* its offset in the layer, or with in_key in the key */
	bool in_key;
	uint8_t l4_proto;
	uint8_t after; /* mask of stages in which it may occur */
	uint8_t then;  /* the next stage */
	/* further requirements: presence, flags; or NULL */
	int (*more)(struct mpsim_reader *r, const struct rte_flow_item *item);
};

/** Set the error of an item. Returns a negative errno. */
int mpsim_items_refuse(struct mpsim_reader *r, int code, const struct rte_flow_item *item,
		       const char *name, const char *why);

static inline int
refuse_at(struct mpsim_reader *r, int code, const struct rte_flow_item *item, const char *name,
	  const char *why)
{
	return mpsim_items_refuse(r, code, item, name, why);
}

/** Find the kind of an item type; NULL: not supported. */
const struct mpsim_item *mpsim_items_find(enum rte_flow_item_type type);

static inline struct mpsim_layer *
mpsim_items_value(struct mpsim_reader *r)
{
	return &r->match->value.layer[r->level];
}

static inline struct mpsim_layer *
mpsim_items_mask(struct mpsim_reader *r)
{
	return &r->match->mask.layer[r->level];
}

#endif /* MPSIM_ITEMS_H */
