/* Runs that are traced. */
#ifndef RACE_TRACES_H
#define RACE_TRACES_H

#include "gallery/host/gallery.h"
#include "simt/trace.h"

/* One run on the simulator, and its events, which the caller frees. */
tally_status tally__track_trace(tally__track *track, const tally__gallery_row *row, tally__simt_trace *trace);

#endif
