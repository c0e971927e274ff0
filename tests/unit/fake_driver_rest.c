/* Every function of the driver's table, doing nothing; fake_driver.c has better ones of some. */
#include "cuda/driver.h"

int tally_fake_nothing(void);
int tally_fake_nothing(void) { return TALLY_CU_SUCCESS; }

#define TALLY_ROW(member, symbol, parameters) __asm__(".weak " symbol "\n.set " symbol ", tally_fake_nothing\n");
TALLY_DRIVER_CALLS(TALLY_ROW)
