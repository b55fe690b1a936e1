/*
 * actions.h - what keys do (moves.c, tools.c, side.c); keys.c says which key does what.
 */
#ifndef BROWSE_ACTIONS_H
#define BROWSE_ACTIONS_H

#include "browse/view.h"

/* A question of which RC is the answer has ended; what the user stopped is reported. */
void action_end(struct view *v, int rc);

/* ---- moves.c; each gets the key that it is for */
void action_up(struct view *v, int key);
void action_down(struct view *v, int key);
void action_left(struct view *v, int key);
void action_right(struct view *v, int key);
void action_page(struct view *v, int key);
void action_start(struct view *v, int key);
void action_last(struct view *v, int key);
void action_instruction(struct view *v, int key);
void action_place(struct view *v, int key);
void action_line_or_time(struct view *v, int key);
void action_find(struct view *v, int key);
void action_find_again(struct view *v, int key);
void action_access(struct view *v, int key);
void action_accesses(struct view *v, int key);
void action_last_write(struct view *v, int key);
void action_visit(struct view *v, int key);
void action_visit_at(struct view *v, int key);
void action_exception(struct view *v, int key);
void action_mouse(struct view *v, int key);

/* ---- watch.c */
/* A key that moves, in the pane that has the keys; false: none of them has. */
bool panes_move(struct view *v, int key);
/* What is chosen in the pane that has the keys; false: none of them has. */
bool panes_chosen(struct view *v, char *out, size_t size);
void action_next_pane(struct view *v, int key);
void action_pane(struct view *v, int key);
void action_memory(struct view *v, int key);
void action_registers(struct view *v, int key);
void action_choose(struct view *v, int key);
void action_hold(struct view *v, int key);
void action_resize(struct view *v, int key);
void action_change(struct view *v, int key);
void action_unit(struct view *v, int key);

/* ---- side.c */
void action_other_trace(struct view *v, int key);
void action_sides(struct view *v, int key);
void action_difference(struct view *v, int key);

/* ---- tools.c */
void action_fold(struct view *v, int key);
void action_unfold(struct view *v, int key);
void action_fold_deep(struct view *v, int key);
void action_fold_function(struct view *v, int key);
void action_stack(struct view *v, int key);
void action_mark(struct view *v, int key);
void action_marks(struct view *v, int key);
void action_second(struct view *v, int key);
void action_exchange(struct view *v, int key);
void action_differences(struct view *v, int key);
void action_stream(struct view *v, int key);
void action_layout(struct view *v, int key);
void action_messages(struct view *v, int key);
void action_tail(struct view *v, int key);
void action_redraw(struct view *v, int key);
void action_quit(struct view *v, int key);

#endif
