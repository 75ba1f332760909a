#include "storage/format/orc/writer.h"

#include <utility>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/orc/acid_file.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

// After an error, and after Close, every call has the same answer.
class Fuse {
 public:
  template <class Call>
  absl::Status Guard(const Call& call) {
    if (blown_.ok()) blown_ = call();
    return blown_;
  }
  void Blow(absl::Status status) {
    if (blown_.ok()) blown_ = std::move(status);
  }

 private:
  absl::Status blown_;
};

absl::Status Closed(const std::string& path) {
  return MakeError(ErrorReason::kInternal, path + " is closed");
}

class Writer final : public AcidWriter {
 public:
  Writer(fs::FileSystem& fs,
         std::string path,
         std::string temporary,
         std::unique_ptr<fs::WritableFile> file,
         const std::vector<Column>& columns,
         const WriterOptions& options)
      : fs_(fs),
        path_(std::move(path)),
        temporary_(std::move(temporary)),
        content_(std::move(file), path_, columns, options) {}

  ~Writer() override {
    if (renamed_) return;
    content_.Drop();  // removes what was not closed
    if (!closed_) return;
    if (const absl::Status status = fs_.RemoveFile(temporary_); !status.ok()) {
      Log(LogLevel::kWarn,
          "orc.temporary_left",
          {{"path", temporary_}, {"error", MessageOf(status)}});
    }
  }

  absl::Status Append(const Batch& batch) override {
    return fuse_.Guard([&] { return content_.Append(batch); });
  }
  absl::Status EndStripe() override {
    return fuse_.Guard([&] { return content_.EndStripe(); });
  }
  absl::StatusOr<FileSummary> Close() override {
    SKEP_RETURN_IF_ERROR(fuse_.Guard([&] { return Finish(); }));
    fuse_.Blow(Closed(path_));
    return content_.summary();
  }

 private:
  absl::Status Finish() {
    SKEP_RETURN_IF_ERROR(content_.WriteTail());
    SKEP_RETURN_IF_ERROR(content_.file().Close());  // syncs
    closed_ = true;
    SKEP_RETURN_IF_ERROR(fs_.RenameNoReplace(temporary_, path_));
    renamed_ = true;
    return fs_.SyncDirectory(fs::ParentPath(path_));
  }

  fs::FileSystem& fs_;
  const std::string path_;
  const std::string temporary_;
  AcidFile content_;
  Fuse fuse_;
  bool closed_ = false, renamed_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AcidWriter>> CreateAcidWriter(fs::FileSystem& fs,
                                                             const std::string& path,
                                                             const std::vector<Column>& columns,
                                                             const WriterOptions& options) {
  const std::string temporary =
      fs::JoinPath(fs::ParentPath(path), "." + fs::BaseName(path) + ".tmp");
  // What an attempt that crashed left behind under this name is nobody's.
  SKEP_RETURN_IF_ERROR(fs.RemoveFile(temporary));
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<fs::WritableFile> file, fs.Create(temporary));
  return std::unique_ptr<AcidWriter>(
      new Writer(fs, path, temporary, std::move(file), columns, options));
}

}  // namespace skep::orc
