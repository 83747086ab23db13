#pragma once
// Declares the readers of the table of formats; traces/jobs/trace_format.hpp describes what they read.

#include "traces/jobs/trace_format.hpp"

namespace contend {

// traces/jobs/tables.cpp
void read_acme(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_fleetsim(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_helios(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_itp(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_muri(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_muri_iterations(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_philly_csv(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_tiresias(ByteSource& source, RowReport& report, const TraceSink& sink);

// traces/jobs/alibaba.cpp
void read_openb(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_pai(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_pai_simulator(ByteSource& source, RowReport& report, const TraceSink& sink);

// traces/jobs/philly.cpp, swf.cpp, slurm.cpp
void read_philly(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_swf(ByteSource& source, RowReport& report, const TraceSink& sink);
void read_slurm(ByteSource& source, RowReport& report, const TraceSink& sink);

}  // namespace contend
