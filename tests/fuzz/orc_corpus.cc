#include "tests/fuzz/orc_corpus.h"

#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include "storage/base/check.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/writer.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/format/random_rows.h"

namespace skep::fuzz {

namespace {

void Save(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string Load(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string Hex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// System columns of `length` insert events.
orc::Batch Keys(int64_t length) {
  orc::Batch batch;
  batch.length = length;
  for (int64_t i = 0; i < length; ++i) {
    batch.operation.push_back(0);
    batch.original_write_id.push_back(7);
    batch.bucket.push_back(536870912);
    batch.row_id.push_back(i);
    batch.current_write_id.push_back(7);
  }
  return batch;
}

// Thirty insert events of a bigint and a string, some of them null.
orc::Batch Events(const std::vector<Column>& columns) {
  arrow::Int64Builder ids;
  arrow::StringBuilder names;
  orc::Batch batch = Keys(30);
  for (int64_t i = 0; i < batch.length; ++i) {
    SKEP_CHECK((i % 7 == 3 ? ids.AppendNull() : ids.Append(i * i * 1000)).ok());
    SKEP_CHECK((i % 5 == 0 ? names.AppendNull() : names.Append(std::string(i % 4, 'x'))).ok());
  }
  batch.rows =
      arrow::RecordBatch::Make(arrow::schema({arrow::field(columns[0].name, arrow::int64()),
                                              arrow::field(columns[1].name, arrow::utf8())}),
                               batch.length,
                               {ids.Finish().ValueOrDie(), names.Finish().ValueOrDie()});
  return batch;
}

void WriteFile(const std::filesystem::path& relative,
               const std::vector<Column>& columns,
               const orc::WriterOptions& options,
               const orc::Batch& batch) {
  const std::filesystem::path path = std::filesystem::absolute(relative);
  std::filesystem::create_directories(path.parent_path());
  std::filesystem::remove(path);
  fs::PosixFileSystem fs;
  const auto writer = orc::CreateAcidWriter(fs, path.string(), columns, options);
  SKEP_CHECK(writer.ok() && (*writer)->Append(batch).ok() && (*writer)->Close().ok());
}

void MakeFiles(const std::filesystem::path& dir) {
  const auto columns = ParseColumns("id bigint, name string");
  SKEP_CHECK(columns.ok());
  for (const orc::Compression compression :
       {orc::Compression::kNone, orc::Compression::kZlib, orc::Compression::kZstd}) {
    orc::WriterOptions options;
    options.compression = compression;
    WriteFile(dir / orc::CompressionName(compression), *columns, options, Events(*columns));
  }
}

// Every kind of column and every nesting of two, in row groups of ten.
void MakeFileOfEveryKind(const std::filesystem::path& path) {
  std::mt19937_64 random(1);
  const std::vector<Column> columns = skep::testing::AllKinds();
  orc::Batch batch = Keys(30);
  batch.rows = skep::testing::RandomBatch(random, columns, batch.length);
  orc::WriterOptions options;
  options.compression = orc::Compression::kNone;
  options.row_index_stride = 10;
  WriteFile(path, columns, options, batch);
}

// The stripe footer of a file without compression lies where its tail says.
void MakeFooters(const std::filesystem::path& dir, const std::filesystem::path& files) {
  for (const char* const name : {"none", "zlib", "zstd"}) {
    fs::PosixFileSystem fs;
    const auto file = fs.OpenForRead(std::filesystem::absolute(files / name).string());
    SKEP_CHECK(file.ok());
    const auto tail = orc::ReadTail(**file, (*file)->size());
    SKEP_CHECK(tail.ok());
    const orc::Stripe& stripe = tail->stripes[0];
    Save(dir / name,
         Load(files / name)
             .substr(stripe.offset + stripe.index_length + stripe.data_length,
                     stripe.footer_length));
  }
}

}  // namespace

void MakeOrcCorpus(const std::filesystem::path& dir) {
  MakeFiles(dir / "orc_file");
  MakeFileOfEveryKind(dir / "orc_file/every_kind");
  MakeFooters(dir / "orc_stripe_footer", dir / "orc_file");
  Save(dir / "orc_integers/version1", Hex("61000761ff64fb020306070b"));
  Save(dir / "orc_integers/short_and_direct", Hex("0a271001095e035ca1ab1edeadbeef"));
  Save(dir / "orc_integers/patched",
       Hex("8e132b2107d01e00147028323c46505a646e78828c96a0aab4befce8"));
  Save(dir / "orc_integers/deltas",
       Hex("c609020222424246c605c80103341ac0040202c00a0e00c203010210"));
  Save(dir / "orc_bytes/runs", Hex("6100fe44450001feff02"));
  Save(dir / "orc_bytes/bits", Hex("ff80ffd0"));
  Save(dir / "orc_bytes/stored_chunk", Hex("0b0000ff80ffd011"));
}

}  // namespace skep::fuzz
