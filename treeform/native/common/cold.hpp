#pragma once
// Functions that run seldom. The compiler optimises them for size and inlines neither them nor much into them, which
// takes it less than half the time. That matters in templates, which it compiles once for each width and size.
#if defined(__GNUC__)
#define TREEFORM_COLD [[gnu::cold, gnu::noinline]]
#else
#define TREEFORM_COLD
#endif
