; ModuleID = 'runtime.c'
source_filename = "runtime.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.Site = type { i32, i32, i32, i32, i32, i32, i64 }
%struct.Layout = type { i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32 }
%struct.Range = type { i64, i64 }
%struct.Context = type { ptr, ptr, ptr, ptr, ptr, ptr, [4 x i32], [4 x i32], i64, ptr }

@simt_sites = external local_unnamed_addr constant [0 x %struct.Site], align 8
@simt_layout = external local_unnamed_addr constant %struct.Layout, align 4

; Function Attrs: mustprogress nofree norecurse nounwind optsize willreturn memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define dso_local void @simt_fail(ptr noundef readonly captures(none) %c, i64 noundef %code, i32 noundef %line, i32 noundef %thread, i64 noundef %a, i64 noundef %b, i64 noundef %more) local_unnamed_addr #0 {
entry:
  %0 = load ptr, ptr %c, align 8, !tbaa !6
  %status = getelementptr inbounds nuw i8, ptr %0, i64 64
  %1 = cmpxchg ptr %status, i64 0, i64 -1 acq_rel acquire, align 8
  %2 = extractvalue { i64, i1 } %1, 1
  br i1 %2, label %if.end, label %cleanup

if.end:                                           ; preds = %entry
  %conv = zext i32 %line to i64
  %detail = getelementptr inbounds nuw i8, ptr %0, i64 72
  store i64 %conv, ptr %detail, align 8, !tbaa !15
  %number = getelementptr inbounds nuw i8, ptr %c, i64 80
  %3 = load i64, ptr %number, align 8, !tbaa !16
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %3, ptr %arrayidx2, align 8, !tbaa !15
  %conv3 = zext i32 %thread to i64
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %0, i64 88
  store i64 %conv3, ptr %arrayidx5, align 8, !tbaa !15
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 %a, ptr %arrayidx7, align 8, !tbaa !15
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %0, i64 104
  store i64 %b, ptr %arrayidx9, align 8, !tbaa !15
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %0, i64 112
  store i64 %more, ptr %arrayidx11, align 8, !tbaa !15
  store atomic i64 %code, ptr %status release, align 8
  br label %cleanup

cleanup:                                          ; preds = %entry, %if.end
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: mustprogress nofree norecurse nounwind optsize willreturn memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define dso_local range(i32 0, 2) i32 @simt_over(ptr noundef readonly captures(none) %c, i32 noundef %site, i32 noundef %thread) local_unnamed_addr #0 {
entry:
  %0 = load ptr, ptr %c, align 8, !tbaa !6
  %stop = getelementptr inbounds nuw i8, ptr %0, i64 120
  %1 = load atomic i64, ptr %stop monotonic, align 8
  %cmp.not = icmp eq i64 %1, 0
  br i1 %cmp.not, label %if.end, label %if.then, !prof !17

if.then:                                          ; preds = %entry
  %idxprom = zext i32 %site to i64
  %arrayidx = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom
  %line = getelementptr inbounds nuw i8, ptr %arrayidx, i64 4
  %2 = load i32, ptr %line, align 4, !tbaa !18
  %status.i = getelementptr inbounds nuw i8, ptr %0, i64 64
  %3 = cmpxchg ptr %status.i, i64 0, i64 -1 acq_rel acquire, align 8
  %4 = extractvalue { i64, i1 } %3, 1
  br i1 %4, label %if.end.i, label %if.end

if.end.i:                                         ; preds = %if.then
  %conv.i = zext i32 %2 to i64
  %detail.i = getelementptr inbounds nuw i8, ptr %0, i64 72
  store i64 %conv.i, ptr %detail.i, align 8, !tbaa !15
  %number.i = getelementptr inbounds nuw i8, ptr %c, i64 80
  %5 = load i64, ptr %number.i, align 8, !tbaa !16
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %5, ptr %arrayidx2.i, align 8, !tbaa !15
  %conv3.i = zext i32 %thread to i64
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %0, i64 88
  store i64 %conv3.i, ptr %arrayidx5.i, align 8, !tbaa !15
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 0, ptr %arrayidx7.i, align 8, !tbaa !15
  %arrayidx9.i = getelementptr inbounds nuw i8, ptr %0, i64 104
  store i64 0, ptr %arrayidx9.i, align 8, !tbaa !15
  %arrayidx11.i = getelementptr inbounds nuw i8, ptr %0, i64 112
  store i64 0, ptr %arrayidx11.i, align 8, !tbaa !15
  store atomic i64 1, ptr %status.i release, align 8
  br label %if.end

if.end:                                           ; preds = %if.end.i, %if.then, %entry
  %6 = load ptr, ptr %c, align 8, !tbaa !6
  %status = getelementptr inbounds nuw i8, ptr %6, i64 64
  %7 = load atomic i64, ptr %status monotonic, align 8
  %cmp4 = icmp ne i64 %7, 0
  %conv5 = zext i1 %cmp4 to i32
  ret i32 %conv5
}

; Function Attrs: nofree norecurse nosync nounwind optsize memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define dso_local i32 @simt_agree(ptr noundef readonly captures(none) %c) local_unnamed_addr #2 {
entry:
  %state = getelementptr inbounds nuw i8, ptr %c, i64 40
  %0 = load ptr, ptr %state, align 8, !tbaa !20
  %1 = load i32, ptr %0, align 4, !tbaa !2
  %2 = load i32, ptr @simt_layout, align 4, !tbaa !21
  %cmp8 = icmp ugt i32 %2, 1
  br i1 %cmp8, label %for.body.preheader, label %for.cond.cleanup

for.body.preheader:                               ; preds = %entry
  %wide.trip.count = zext i32 %2 to i64
  br label %for.body

for.cond.cleanup.loopexit:                        ; preds = %for.body
  %3 = icmp eq i32 %or, 0
  %4 = select i1 %3, i32 %1, i32 -1
  br label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.cond.cleanup.loopexit, %entry
  %other.0.lcssa = phi i32 [ %1, %entry ], [ %4, %for.cond.cleanup.loopexit ]
  ret i32 %other.0.lcssa

for.body:                                         ; preds = %for.body.preheader, %for.body
  %indvars.iv = phi i64 [ 1, %for.body.preheader ], [ %indvars.iv.next, %for.body ]
  %other.09 = phi i32 [ 0, %for.body.preheader ], [ %or, %for.body ]
  %arrayidx2 = getelementptr inbounds nuw i32, ptr %0, i64 %indvars.iv
  %5 = load i32, ptr %arrayidx2, align 4, !tbaa !2
  %xor = xor i32 %5, %1
  %or = or i32 %xor, %other.09
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, %wide.trip.count
  br i1 %exitcond.not, label %for.cond.cleanup.loopexit, label %for.body, !llvm.loop !23
}

; Function Attrs: nofree norecurse nounwind optsize memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define dso_local range(i32 0, 2) i32 @simt_all(ptr noundef readonly captures(none) %c, i32 noundef %site) local_unnamed_addr #3 {
entry:
  %idxprom = zext i32 %site to i64
  %arrayidx = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom
  %0 = load i32, ptr %arrayidx, align 8, !tbaa !25
  %cmp = icmp eq i32 %0, 2
  br i1 %cmp, label %for.cond.preheader, label %if.else

for.cond.preheader:                               ; preds = %entry
  %1 = load i32, ptr @simt_layout, align 4, !tbaa !21
  %cmp294.not = icmp eq i32 %1, 0
  br i1 %cmp294.not, label %cleanup46, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %for.cond.preheader
  %flags.i = getelementptr inbounds nuw i8, ptr %arrayidx, i64 12
  %2 = load i32, ptr %flags.i, align 4, !tbaa !26
  %and.i = and i32 %2, 8
  %tobool.not.i = icmp eq i32 %and.i, 0
  %spill1.i = getelementptr inbounds nuw i8, ptr %c, i64 16
  %3 = load ptr, ptr %spill1.i, align 8, !tbaa !27
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 24), align 4
  %idx.ext.i = zext i32 %4 to i64
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %3, i64 %idx.ext.i
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 20), align 4
  %idx.ext2.i = zext i32 %5 to i64
  %add.ptr3.i = getelementptr inbounds nuw i8, ptr %3, i64 %idx.ext2.i
  %wide.trip.count = zext i32 %1 to i64
  br label %for.body

for.body11.lr.ph:                                 ; preds = %value_of.exit
  %flags.i71 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 12
  %6 = load i32, ptr %flags.i71, align 4, !tbaa !26
  %and.i72 = and i32 %6, 16
  %tobool.not.i73 = icmp eq i32 %and.i72, 0
  %spill.i = getelementptr inbounds nuw i8, ptr %c, i64 16
  %7 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 44), align 4
  %idx.ext.i76 = zext i32 %7 to i64
  %conv14 = zext i32 %add to i64
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 40), align 4
  %idx.ext2.i81 = zext i32 %8 to i64
  %wide.trip.count107 = zext i32 %1 to i64
  %9 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %add.ptr.i77 = getelementptr inbounds nuw i8, ptr %9, i64 %idx.ext.i76
  %add.ptr3.i82 = getelementptr inbounds nuw i8, ptr %9, i64 %idx.ext2.i81
  br label %for.body11

for.body:                                         ; preds = %for.body.lr.ph, %value_of.exit
  %indvars.iv = phi i64 [ 0, %for.body.lr.ph ], [ %indvars.iv.next, %value_of.exit ]
  %count.095 = phi i32 [ 0, %for.body.lr.ph ], [ %add, %value_of.exit ]
  br i1 %tobool.not.i, label %if.end.i, label %if.then.i

if.then.i:                                        ; preds = %for.body
  %arrayidx.i = getelementptr inbounds nuw i32, ptr %add.ptr.i, i64 %indvars.iv
  %10 = load i32, ptr %arrayidx.i, align 4, !tbaa !2
  %conv.i = zext i32 %10 to i64
  br label %value_of.exit

if.end.i:                                         ; preds = %for.body
  %arrayidx5.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i, i64 %indvars.iv
  %11 = load i64, ptr %arrayidx5.i, align 8, !tbaa !15
  br label %value_of.exit

value_of.exit:                                    ; preds = %if.then.i, %if.end.i
  %retval.0.i = phi i64 [ %conv.i, %if.then.i ], [ %11, %if.end.i ]
  %cmp5 = icmp ne i64 %retval.0.i, 0
  %conv = zext i1 %cmp5 to i32
  %add = add i32 %count.095, %conv
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond103.not = icmp eq i64 %indvars.iv.next, %wide.trip.count
  br i1 %exitcond103.not, label %for.body11.lr.ph, label %for.body, !llvm.loop !28

for.body11:                                       ; preds = %for.body11.lr.ph, %give.exit
  %indvars.iv104 = phi i64 [ 0, %for.body11.lr.ph ], [ %indvars.iv.next105, %give.exit ]
  br i1 %tobool.not.i73, label %if.else.i, label %if.then.i74

if.then.i74:                                      ; preds = %for.body11
  %arrayidx.i78 = getelementptr inbounds nuw i32, ptr %add.ptr.i77, i64 %indvars.iv104
  store i32 %add, ptr %arrayidx.i78, align 4, !tbaa !2
  br label %give.exit

if.else.i:                                        ; preds = %for.body11
  %arrayidx5.i84 = getelementptr inbounds nuw i64, ptr %add.ptr3.i82, i64 %indvars.iv104
  store i64 %conv14, ptr %arrayidx5.i84, align 8, !tbaa !15
  br label %give.exit

give.exit:                                        ; preds = %if.then.i74, %if.else.i
  %indvars.iv.next105 = add nuw nsw i64 %indvars.iv104, 1
  %exitcond108.not = icmp eq i64 %indvars.iv.next105, %wide.trip.count107
  br i1 %exitcond108.not, label %cleanup46, label %for.body11, !llvm.loop !29

if.else:                                          ; preds = %entry
  %12 = add i32 %0, -3
  %or.cond = icmp ult i32 %12, 6
  br i1 %or.cond, label %for.cond23.preheader, label %cleanup46

for.cond23.preheader:                             ; preds = %if.else
  %13 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 8), align 4, !tbaa !30
  %cmp24.not91.not = icmp eq i32 %13, 0
  br i1 %cmp24.not91.not, label %cleanup46, label %for.body27.lr.ph

for.body27.lr.ph:                                 ; preds = %for.cond23.preheader
  %14 = load i32, ptr @simt_layout, align 4, !tbaa !21
  %15 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 4), align 4, !tbaa !31
  %cmp29 = icmp eq i32 %0, 8
  %flags.i.i = getelementptr inbounds nuw i8, ptr %arrayidx, i64 12
  %spill.i.i = getelementptr inbounds nuw i8, ptr %c, i64 16
  %16 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 44), align 4
  %idx.ext.i.i = zext i32 %16 to i64
  %17 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 40), align 4
  %idx.ext2.i.i = zext i32 %17 to i64
  br label %for.body27

for.body27:                                       ; preds = %for.body27.lr.ph, %if.end38
  %w.092 = phi i32 [ 0, %for.body27.lr.ph ], [ %inc40, %if.end38 ]
  %mul.i = mul i32 %15, %w.092
  %sub.i = sub i32 %14, %mul.i
  %spec.select.i = tail call i32 @llvm.umin.i32(i32 %sub.i, i32 %15)
  %cmp1.i = icmp eq i32 %spec.select.i, 64
  %sh_prom.i = zext nneg i32 %spec.select.i to i64
  %notmask.i = shl nsw i64 -1, %sh_prom.i
  %sub2.i = xor i64 %notmask.i, -1
  %cond.i = select i1 %cmp1.i, i64 -1, i64 %sub2.i
  br i1 %cmp29, label %if.then31, label %if.else32

if.then31:                                        ; preds = %for.body27
  %tobool.not5.i = icmp eq i64 %cond.i, 0
  br i1 %tobool.not5.i, label %if.end38, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %if.then31
  %18 = load i32, ptr %flags.i.i, align 4, !tbaa !26
  %and.i.i = and i32 %18, 16
  %tobool.not.i.i = icmp eq i32 %and.i.i, 0
  %conv.i.i = trunc i64 %cond.i to i32
  %19 = load ptr, ptr %spill.i.i, align 8, !tbaa !27
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %19, i64 %idx.ext.i.i
  %add.ptr3.i.i = getelementptr inbounds nuw i8, ptr %19, i64 %idx.ext2.i.i
  br label %for.body.i

for.body.i:                                       ; preds = %give.exit.i, %for.body.lr.ph.i
  %m.06.i = phi i64 [ %cond.i, %for.body.lr.ph.i ], [ %and.i88, %give.exit.i ]
  %20 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %m.06.i, i1 true)
  %cast.i = trunc nuw nsw i64 %20 to i32
  %add.i = add i32 %mul.i, %cast.i
  %idxprom4.i.i = zext i32 %add.i to i64
  br i1 %tobool.not.i.i, label %if.else.i.i, label %if.then.i.i

if.then.i.i:                                      ; preds = %for.body.i
  %arrayidx.i.i = getelementptr inbounds nuw i32, ptr %add.ptr.i.i, i64 %idxprom4.i.i
  store i32 %conv.i.i, ptr %arrayidx.i.i, align 4, !tbaa !2
  br label %give.exit.i

if.else.i.i:                                      ; preds = %for.body.i
  %arrayidx5.i.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i.i, i64 %idxprom4.i.i
  store i64 %cond.i, ptr %arrayidx5.i.i, align 8, !tbaa !15
  br label %give.exit.i

give.exit.i:                                      ; preds = %if.else.i.i, %if.then.i.i
  %sub.i87 = add i64 %m.06.i, -1
  %and.i88 = and i64 %sub.i87, %m.06.i
  %tobool.not.i89 = icmp eq i64 %and.i88, 0
  br i1 %tobool.not.i89, label %if.end38, label %for.body.i, !llvm.loop !32

if.else32:                                        ; preds = %for.body27
  %call34 = tail call fastcc i64 @collect(ptr noundef %c, i32 noundef %site, i32 noundef %mul.i, i64 noundef %cond.i, i64 noundef %cond.i) #9
  %cmp35.not = icmp eq i64 %call34, %cond.i
  br i1 %cmp35.not, label %if.end38, label %cleanup46

if.end38:                                         ; preds = %give.exit.i, %if.then31, %if.else32
  %inc40 = add nuw i32 %w.092, 1
  %exitcond.not = icmp eq i32 %inc40, %13
  br i1 %exitcond.not, label %cleanup46, label %for.body27, !llvm.loop !33

cleanup46:                                        ; preds = %if.else32, %if.end38, %give.exit, %for.cond.preheader, %for.cond23.preheader, %if.else
  %retval.3 = phi i32 [ 1, %if.else ], [ 1, %for.cond.preheader ], [ 1, %for.cond23.preheader ], [ 1, %give.exit ], [ 0, %if.else32 ], [ 1, %if.end38 ]
  ret i32 %retval.3
}

; Function Attrs: nofree norecurse nounwind optsize memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define internal fastcc i64 @collect(ptr noundef readonly captures(none) %c, i32 noundef %site, i32 noundef %base, i64 noundef %group, i64 noundef %alive) unnamed_addr #3 {
entry:
  %idxprom = zext i32 %site to i64
  %arrayidx = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom
  %tobool.not108 = icmp eq i64 %group, 0
  br i1 %tobool.not108, label %cleanup28, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %entry
  %flags.i = getelementptr inbounds nuw i8, ptr %arrayidx, i64 12
  %0 = load i32, ptr %flags.i, align 4, !tbaa !26
  %and.i = and i32 %0, 1
  %tobool.not.i = icmp eq i32 %and.i, 0
  %spill.i = getelementptr inbounds nuw i8, ptr %c, i64 16
  %1 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 28), align 4
  %idx.ext.i = zext i32 %1 to i64
  %mask.i = getelementptr inbounds nuw i8, ptr %arrayidx, i64 24
  %not = xor i64 %group, -1
  %and.i.i = and i32 %0, 8
  %tobool.not.i.i = icmp eq i32 %and.i.i, 0
  %2 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 24), align 4
  %idx.ext.i.i = zext i32 %2 to i64
  %3 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 20), align 4
  %idx.ext2.i.i = zext i32 %3 to i64
  %op.i = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 44), align 4
  %idx.ext.i190.i = zext i32 %4 to i64
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 40), align 4
  %idx.ext2.i197.i = zext i32 %5 to i64
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 32), align 4
  %idx.ext.i126.i = zext i32 %6 to i64
  %arg1.i.i = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  %7 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 36), align 4
  %idx.ext7.i.i = zext i32 %7 to i64
  %width12.i.i = getelementptr inbounds nuw i8, ptr %arrayidx, i64 20
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 4), align 4
  %and.i185.i = and i32 %0, 16
  %tobool.not.i186.i = icmp eq i32 %and.i185.i, 0
  %and.i124.i = and i32 %0, 2
  %tobool.not.i125.i = icmp eq i32 %and.i124.i, 0
  %and3.i.i = and i32 %0, 4
  %tobool4.not.i.i = icmp eq i32 %and3.i.i, 0
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %cleanup24
  %done.0110 = phi i64 [ 0, %for.body.lr.ph ], [ %done.1, %cleanup24 ]
  %left.0109 = phi i64 [ %group, %for.body.lr.ph ], [ %left.1, %cleanup24 ]
  %9 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %left.0109, i1 true)
  %cast = trunc nuw nsw i64 %9 to i32
  %add = add i32 %base, %cast
  br i1 %tobool.not.i, label %mask_of.exit, label %cond.true.i

cond.true.i:                                      ; preds = %for.body
  %10 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %10, i64 %idx.ext.i
  %idxprom.i = zext i32 %add to i64
  %arrayidx.i = getelementptr inbounds nuw i64, ptr %add.ptr.i, i64 %idxprom.i
  br label %mask_of.exit

mask_of.exit:                                     ; preds = %for.body, %cond.true.i
  %cond.in.i = phi ptr [ %arrayidx.i, %cond.true.i ], [ %mask.i, %for.body ]
  %cond.i = load i64, ptr %cond.in.i, align 8, !tbaa !15
  %and = and i64 %cond.i, %alive
  %11 = shl nuw i64 1, %9
  %12 = and i64 %cond.i, %11
  %tobool2.not = icmp eq i64 %12, 0
  br i1 %tobool2.not, label %if.then, label %if.end

if.then:                                          ; preds = %mask_of.exit
  %line = getelementptr inbounds nuw i8, ptr %arrayidx, i64 4
  %13 = load i32, ptr %line, align 4, !tbaa !18
  %14 = load ptr, ptr %c, align 8, !tbaa !6
  %status.i = getelementptr inbounds nuw i8, ptr %14, i64 64
  %15 = cmpxchg ptr %status.i, i64 0, i64 -1 acq_rel acquire, align 8
  %16 = extractvalue { i64, i1 } %15, 1
  br i1 %16, label %if.end.i, label %cleanup28

if.end.i:                                         ; preds = %if.then
  %conv.i = zext i32 %13 to i64
  %detail.i = getelementptr inbounds nuw i8, ptr %14, i64 72
  store i64 %conv.i, ptr %detail.i, align 8, !tbaa !15
  %number.i = getelementptr inbounds nuw i8, ptr %c, i64 80
  %17 = load i64, ptr %number.i, align 8, !tbaa !16
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %14, i64 80
  store i64 %17, ptr %arrayidx2.i, align 8, !tbaa !15
  %conv3.i = zext i32 %add to i64
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %14, i64 88
  store i64 %conv3.i, ptr %arrayidx5.i, align 8, !tbaa !15
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %14, i64 96
  store i64 %cond.i, ptr %arrayidx7.i, align 8, !tbaa !15
  %arrayidx9.i = getelementptr inbounds nuw i8, ptr %14, i64 104
  store i64 0, ptr %arrayidx9.i, align 8, !tbaa !15
  %arrayidx11.i = getelementptr inbounds nuw i8, ptr %14, i64 112
  store i64 0, ptr %arrayidx11.i, align 8, !tbaa !15
  store atomic i64 5, ptr %status.i release, align 8
  br label %cleanup28

if.end:                                           ; preds = %mask_of.exit
  %sub = add i64 %left.0109, -1
  %and4 = and i64 %sub, %left.0109
  %and5 = and i64 %and, %not
  %tobool6.not = icmp eq i64 %and5, 0
  br i1 %tobool6.not, label %for.cond9.preheader, label %cleanup24, !llvm.loop !34

for.cond9.preheader:                              ; preds = %if.end
  %tobool10.not106 = icmp eq i64 %and, 0
  br i1 %tobool10.not106, label %for.end, label %for.body12

for.body12:                                       ; preds = %for.cond9.preheader, %for.inc
  %m.0107 = phi i64 [ %and21, %for.inc ], [ %and, %for.cond9.preheader ]
  br i1 %tobool.not.i, label %mask_of.exit81, label %cond.true.i71

cond.true.i71:                                    ; preds = %for.body12
  %18 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %m.0107, i1 true)
  %cast13 = trunc nuw nsw i64 %18 to i32
  %add14 = add i32 %base, %cast13
  %19 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %add.ptr.i74 = getelementptr inbounds nuw i8, ptr %19, i64 %idx.ext.i
  %idxprom.i75 = zext i32 %add14 to i64
  %arrayidx.i76 = getelementptr inbounds nuw i64, ptr %add.ptr.i74, i64 %idxprom.i75
  br label %mask_of.exit81

mask_of.exit81:                                   ; preds = %for.body12, %cond.true.i71
  %cond.in.i77 = phi ptr [ %arrayidx.i76, %cond.true.i71 ], [ %mask.i, %for.body12 ]
  %cond.i78 = load i64, ptr %cond.in.i77, align 8, !tbaa !15
  %cmp.not = icmp eq i64 %cond.i78, %cond.i
  br i1 %cmp.not, label %for.inc, label %if.then16

if.then16:                                        ; preds = %mask_of.exit81
  %line17 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 4
  %20 = load i32, ptr %line17, align 4, !tbaa !18
  %21 = load ptr, ptr %c, align 8, !tbaa !6
  %status.i82 = getelementptr inbounds nuw i8, ptr %21, i64 64
  %22 = cmpxchg ptr %status.i82, i64 0, i64 -1 acq_rel acquire, align 8
  %23 = extractvalue { i64, i1 } %22, 1
  br i1 %23, label %if.end.i83, label %cleanup28

if.end.i83:                                       ; preds = %if.then16
  %conv.i84 = zext i32 %20 to i64
  %detail.i85 = getelementptr inbounds nuw i8, ptr %21, i64 72
  store i64 %conv.i84, ptr %detail.i85, align 8, !tbaa !15
  %number.i86 = getelementptr inbounds nuw i8, ptr %c, i64 80
  %24 = load i64, ptr %number.i86, align 8, !tbaa !16
  %arrayidx2.i87 = getelementptr inbounds nuw i8, ptr %21, i64 80
  store i64 %24, ptr %arrayidx2.i87, align 8, !tbaa !15
  %conv3.i88 = zext i32 %add to i64
  %arrayidx5.i89 = getelementptr inbounds nuw i8, ptr %21, i64 88
  store i64 %conv3.i88, ptr %arrayidx5.i89, align 8, !tbaa !15
  %arrayidx7.i90 = getelementptr inbounds nuw i8, ptr %21, i64 96
  store i64 %cond.i, ptr %arrayidx7.i90, align 8, !tbaa !15
  %arrayidx9.i91 = getelementptr inbounds nuw i8, ptr %21, i64 104
  store i64 0, ptr %arrayidx9.i91, align 8, !tbaa !15
  %arrayidx11.i92 = getelementptr inbounds nuw i8, ptr %21, i64 112
  store i64 0, ptr %arrayidx11.i92, align 8, !tbaa !15
  store atomic i64 5, ptr %status.i82 release, align 8
  br label %cleanup28

for.inc:                                          ; preds = %mask_of.exit81
  %sub20 = add i64 %m.0107, -1
  %and21 = and i64 %sub20, %m.0107
  %tobool10.not = icmp eq i64 %and21, 0
  br i1 %tobool10.not, label %for.end, label %for.body12, !llvm.loop !35

for.end:                                          ; preds = %for.inc, %for.cond9.preheader
  %25 = load i32, ptr %arrayidx, align 8, !tbaa !25
  switch i32 %25, label %if.end10.i [
    i32 5, label %if.then.i
    i32 7, label %if.then.i
  ]

if.then.i:                                        ; preds = %for.end, %for.end
  br i1 %tobool10.not106, label %apply.exit, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %if.then.i
  %26 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %26, i64 %idx.ext.i.i
  %add.ptr3.i.i = getelementptr inbounds nuw i8, ptr %26, i64 %idx.ext2.i.i
  %cmp4.i = icmp eq i32 %25, 5
  br label %for.body.i

for.body.i:                                       ; preds = %if.end.i95, %for.body.lr.ph.i
  %all.0239.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %all.1.i, %if.end.i95 ]
  %any.0238.i = phi i32 [ 0, %for.body.lr.ph.i ], [ %any.1.i, %if.end.i95 ]
  %m.0237.i = phi i64 [ %and, %for.body.lr.ph.i ], [ %and.i96, %if.end.i95 ]
  %27 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %m.0237.i, i1 true)
  %cast.i = trunc nuw nsw i64 %27 to i32
  %add.i = add i32 %base, %cast.i
  %idxprom4.i.i = zext i32 %add.i to i64
  br i1 %tobool.not.i.i, label %if.end.i.i, label %if.then.i.i

if.then.i.i:                                      ; preds = %for.body.i
  %arrayidx.i.i = getelementptr inbounds nuw i32, ptr %add.ptr.i.i, i64 %idxprom4.i.i
  %28 = load i32, ptr %arrayidx.i.i, align 4, !tbaa !2
  %conv.i.i = zext i32 %28 to i64
  br label %value_of.exit.i

if.end.i.i:                                       ; preds = %for.body.i
  %arrayidx5.i.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i.i, i64 %idxprom4.i.i
  %29 = load i64, ptr %arrayidx5.i.i, align 8, !tbaa !15
  br label %value_of.exit.i

value_of.exit.i:                                  ; preds = %if.end.i.i, %if.then.i.i
  %retval.0.i.i = phi i64 [ %conv.i.i, %if.then.i.i ], [ %29, %if.end.i.i ]
  br i1 %cmp4.i, label %if.then5.i, label %if.else.i

if.then5.i:                                       ; preds = %value_of.exit.i
  %cmp6.i = icmp ne i64 %retval.0.i.i, 0
  %conv7.i = zext i1 %cmp6.i to i64
  %shl.i = shl nuw i64 %conv7.i, %27
  %or.i = or i64 %shl.i, %all.0239.i
  br label %if.end.i95

if.else.i:                                        ; preds = %value_of.exit.i
  %inc.i = add i32 %any.0238.i, 1
  %tobool8.not.i = icmp eq i32 %any.0238.i, 0
  br i1 %tobool8.not.i, label %if.end.i95, label %cond.true.i94

cond.true.i94:                                    ; preds = %if.else.i
  %30 = load i32, ptr %op.i, align 8, !tbaa !36
  switch i32 %30, label %sw.default.i.i [
    i32 0, label %sw.bb.i.i
    i32 1, label %sw.bb1.i.i
    i32 2, label %sw.bb2.i.i
    i32 3, label %sw.bb8.i.i
    i32 4, label %sw.bb9.i.i
    i32 5, label %sw.bb10.i.i
    i32 6, label %sw.bb11.i.i
  ]

sw.bb.i.i:                                        ; preds = %cond.true.i94
  %add.i.i = add i64 %retval.0.i.i, %all.0239.i
  br label %if.end.i95

sw.bb1.i.i:                                       ; preds = %cond.true.i94
  %cond.i.i = tail call i64 @llvm.umin.i64(i64 %all.0239.i, i64 %retval.0.i.i)
  br label %if.end.i95

sw.bb2.i.i:                                       ; preds = %cond.true.i94
  %cond7.i.i = tail call i64 @llvm.umax.i64(i64 %all.0239.i, i64 %retval.0.i.i)
  br label %if.end.i95

sw.bb8.i.i:                                       ; preds = %cond.true.i94
  %and.i122.i = and i64 %retval.0.i.i, %all.0239.i
  br label %if.end.i95

sw.bb9.i.i:                                       ; preds = %cond.true.i94
  %or.i.i = or i64 %retval.0.i.i, %all.0239.i
  br label %if.end.i95

sw.bb10.i.i:                                      ; preds = %cond.true.i94
  %xor.i.i = xor i64 %retval.0.i.i, %all.0239.i
  br label %if.end.i95

sw.bb11.i.i:                                      ; preds = %cond.true.i94
  %cond16.i.i = tail call i64 @llvm.smin.i64(i64 %all.0239.i, i64 %retval.0.i.i)
  br label %if.end.i95

sw.default.i.i:                                   ; preds = %cond.true.i94
  %cond21.i.i = tail call i64 @llvm.smax.i64(i64 %all.0239.i, i64 %retval.0.i.i)
  br label %if.end.i95

if.end.i95:                                       ; preds = %sw.default.i.i, %sw.bb11.i.i, %sw.bb10.i.i, %sw.bb9.i.i, %sw.bb8.i.i, %sw.bb2.i.i, %sw.bb1.i.i, %sw.bb.i.i, %if.else.i, %if.then5.i
  %any.1.i = phi i32 [ %any.0238.i, %if.then5.i ], [ 1, %if.else.i ], [ %inc.i, %sw.bb.i.i ], [ %inc.i, %sw.bb1.i.i ], [ %inc.i, %sw.bb2.i.i ], [ %inc.i, %sw.bb8.i.i ], [ %inc.i, %sw.bb9.i.i ], [ %inc.i, %sw.bb10.i.i ], [ %inc.i, %sw.bb11.i.i ], [ %inc.i, %sw.default.i.i ]
  %all.1.i = phi i64 [ %or.i, %if.then5.i ], [ %retval.0.i.i, %if.else.i ], [ %add.i.i, %sw.bb.i.i ], [ %cond.i.i, %sw.bb1.i.i ], [ %cond7.i.i, %sw.bb2.i.i ], [ %and.i122.i, %sw.bb8.i.i ], [ %or.i.i, %sw.bb9.i.i ], [ %xor.i.i, %sw.bb10.i.i ], [ %cond16.i.i, %sw.bb11.i.i ], [ %cond21.i.i, %sw.default.i.i ]
  %sub.i = add i64 %m.0237.i, -1
  %and.i96 = and i64 %sub.i, %m.0237.i
  %tobool.not.i97 = icmp eq i64 %and.i96, 0
  br i1 %tobool.not.i97, label %if.end10.i, label %for.body.i, !llvm.loop !37

if.end10.i:                                       ; preds = %if.end.i95, %for.end
  %all.2.i = phi i64 [ 0, %for.end ], [ %all.1.i, %if.end.i95 ]
  br i1 %tobool10.not106, label %apply.exit, label %for.body15.lr.ph.i

for.body15.lr.ph.i:                               ; preds = %if.end10.i
  %conv.i222.i = trunc i64 %all.2.i to i32
  br label %for.body15.i

for.body15.i:                                     ; preds = %if.end64.i, %for.body15.lr.ph.i
  %m11.0245.i = phi i64 [ %and, %for.body15.lr.ph.i ], [ %and67.i, %if.end64.i ]
  %31 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %m11.0245.i, i1 true)
  %cast17.i = trunc nuw nsw i64 %31 to i32
  %add18.i = add i32 %base, %cast17.i
  switch i32 %25, label %if.then61.i [
    i32 4, label %if.then22.i
    i32 6, label %if.then38.i
    i32 3, label %if.end64.i
  ]

if.then22.i:                                      ; preds = %for.body15.i
  br i1 %tobool.not.i125.i, label %cond.end.i.i, label %cond.true.i.i

cond.true.i.i:                                    ; preds = %if.then22.i
  %32 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %add.ptr.i127.i = getelementptr inbounds nuw i8, ptr %32, i64 %idx.ext.i126.i
  %idxprom.i.i = zext i32 %add18.i to i64
  %arrayidx.i128.i = getelementptr inbounds nuw i32, ptr %add.ptr.i127.i, i64 %idxprom.i.i
  br label %cond.end.i.i

cond.end.i.i:                                     ; preds = %cond.true.i.i, %if.then22.i
  %cond.in.i.i = phi ptr [ %arrayidx.i128.i, %cond.true.i.i ], [ %arg1.i.i, %if.then22.i ]
  %cond.i129.i = load i32, ptr %cond.in.i.i, align 4, !tbaa !2
  br i1 %tobool4.not.i.i, label %cond.end13.i.i, label %cond.true5.i.i

cond.true5.i.i:                                   ; preds = %cond.end.i.i
  %33 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %add.ptr8.i.i = getelementptr inbounds nuw i8, ptr %33, i64 %idx.ext7.i.i
  %idxprom9.i.i = zext i32 %add18.i to i64
  %arrayidx10.i.i = getelementptr inbounds nuw i32, ptr %add.ptr8.i.i, i64 %idxprom9.i.i
  br label %cond.end13.i.i

cond.end13.i.i:                                   ; preds = %cond.true5.i.i, %cond.end.i.i
  %cond14.in.i.i = phi ptr [ %arrayidx10.i.i, %cond.true5.i.i ], [ %width12.i.i, %cond.end.i.i ]
  %cond14.i.i = load i32, ptr %cond14.in.i.i, align 4, !tbaa !2
  %sub.i.i = add i32 %cond14.i.i, -1
  %not.i.i = sub i32 0, %cond14.i.i
  %and15.i.i = and i32 %not.i.i, %cast17.i
  %or.i130.i = or i32 %sub.i.i, %cast17.i
  %34 = load i32, ptr %op.i, align 8, !tbaa !36
  switch i32 %34, label %sw.default.i134.i [
    i32 0, label %sw.bb.i133.i
    i32 1, label %sw.bb20.i.i
    i32 2, label %sw.bb27.i.i
  ]

sw.bb.i133.i:                                     ; preds = %cond.end13.i.i
  %and18.i.i = and i32 %sub.i.i, %cond.i129.i
  %or19.i.i = or i32 %and18.i.i, %and15.i.i
  br label %source_lane.exit.i

sw.bb20.i.i:                                      ; preds = %cond.end13.i.i
  %sub21.i.i = sub nsw i32 %cast17.i, %and15.i.i
  %cmp.not.i.i = icmp ugt i32 %cond.i129.i, %sub21.i.i
  %sub23.i.i = select i1 %cmp.not.i.i, i32 0, i32 %cond.i129.i
  %cond26.i.i = sub i32 %cast17.i, %sub23.i.i
  br label %source_lane.exit.i

sw.bb27.i.i:                                      ; preds = %cond.end13.i.i
  %sub28.i.i = sub i32 %or.i130.i, %cast17.i
  %cmp29.not.i.i = icmp ugt i32 %cond.i129.i, %sub28.i.i
  %add.i131.i = select i1 %cmp29.not.i.i, i32 0, i32 %cond.i129.i
  %cond33.i.i = add i32 %add.i131.i, %cast17.i
  br label %source_lane.exit.i

sw.default.i134.i:                                ; preds = %cond.end13.i.i
  %xor.i135.i = xor i32 %cond.i129.i, %cast17.i
  %cmp34.not.i.i = icmp ugt i32 %xor.i135.i, %or.i130.i
  %cond38.i.i = select i1 %cmp34.not.i.i, i32 %cast17.i, i32 %xor.i135.i
  br label %source_lane.exit.i

source_lane.exit.i:                               ; preds = %sw.default.i134.i, %sw.bb27.i.i, %sw.bb20.i.i, %sw.bb.i133.i
  %retval.0.i132.i = phi i32 [ %cond38.i.i, %sw.default.i134.i ], [ %or19.i.i, %sw.bb.i133.i ], [ %cond26.i.i, %sw.bb20.i.i ], [ %cond33.i.i, %sw.bb27.i.i ]
  %cmp24.not.i = icmp ult i32 %retval.0.i132.i, %8
  br i1 %cmp24.not.i, label %lor.lhs.false26.i, label %if.end31.i

lor.lhs.false26.i:                                ; preds = %source_lane.exit.i
  %sh_prom27.i = zext nneg i32 %retval.0.i132.i to i64
  %35 = shl nuw i64 1, %sh_prom27.i
  %36 = and i64 %35, %and
  %tobool29.not.i = icmp eq i64 %36, 0
  %.pre.i = add i32 %retval.0.i132.i, %base
  %spec.select.i = select i1 %tobool29.not.i, i32 %add18.i, i32 %.pre.i
  br label %if.end31.i

if.end31.i:                                       ; preds = %lor.lhs.false26.i, %source_lane.exit.i
  %add32.pre-phi.i = phi i32 [ %add18.i, %source_lane.exit.i ], [ %spec.select.i, %lor.lhs.false26.i ]
  %37 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %idxprom4.i140.i = zext i32 %add32.pre-phi.i to i64
  br i1 %tobool.not.i.i, label %if.end.i147.i, label %if.then.i141.i

if.then.i141.i:                                   ; preds = %if.end31.i
  %add.ptr.i143.i = getelementptr inbounds nuw i8, ptr %37, i64 %idx.ext.i.i
  %arrayidx.i144.i = getelementptr inbounds nuw i32, ptr %add.ptr.i143.i, i64 %idxprom4.i140.i
  %38 = load i32, ptr %arrayidx.i144.i, align 4, !tbaa !2
  %conv.i145.i = zext i32 %38 to i64
  br label %value_of.exit151.i

if.end.i147.i:                                    ; preds = %if.end31.i
  %add.ptr3.i149.i = getelementptr inbounds nuw i8, ptr %37, i64 %idx.ext2.i.i
  %arrayidx5.i150.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i149.i, i64 %idxprom4.i140.i
  %39 = load i64, ptr %arrayidx5.i150.i, align 8, !tbaa !15
  br label %value_of.exit151.i

value_of.exit151.i:                               ; preds = %if.end.i147.i, %if.then.i141.i
  %retval.0.i146.i = phi i64 [ %conv.i145.i, %if.then.i141.i ], [ %39, %if.end.i147.i ]
  br i1 %tobool.not.i186.i, label %if.else.i.i, label %if.then.i155.i

if.then.i155.i:                                   ; preds = %value_of.exit151.i
  %conv.i156.i = trunc i64 %retval.0.i146.i to i32
  %add.ptr.i159.i = getelementptr inbounds nuw i8, ptr %37, i64 %idx.ext.i190.i
  %idxprom.i160.i = zext i32 %add18.i to i64
  %arrayidx.i161.i = getelementptr inbounds nuw i32, ptr %add.ptr.i159.i, i64 %idxprom.i160.i
  store i32 %conv.i156.i, ptr %arrayidx.i161.i, align 4, !tbaa !2
  br label %if.end64.i

if.else.i.i:                                      ; preds = %value_of.exit151.i
  %add.ptr3.i165.i = getelementptr inbounds nuw i8, ptr %37, i64 %idx.ext2.i197.i
  %idxprom4.i166.i = zext i32 %add18.i to i64
  %arrayidx5.i167.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i165.i, i64 %idxprom4.i166.i
  store i64 %retval.0.i146.i, ptr %arrayidx5.i167.i, align 8, !tbaa !15
  br label %if.end64.i

if.then38.i:                                      ; preds = %for.body15.i
  %40 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %idxprom4.i172.i = zext i32 %add18.i to i64
  br i1 %tobool.not.i.i, label %if.end.i179.i, label %if.then.i173.i

if.then.i173.i:                                   ; preds = %if.then38.i
  %add.ptr.i175.i = getelementptr inbounds nuw i8, ptr %40, i64 %idx.ext.i.i
  %arrayidx.i176.i = getelementptr inbounds nuw i32, ptr %add.ptr.i175.i, i64 %idxprom4.i172.i
  %41 = load i32, ptr %arrayidx.i176.i, align 4, !tbaa !2
  %conv.i177.i = zext i32 %41 to i64
  br label %for.body43.lr.ph.i

if.end.i179.i:                                    ; preds = %if.then38.i
  %add.ptr3.i181.i = getelementptr inbounds nuw i8, ptr %40, i64 %idx.ext2.i.i
  %arrayidx5.i182.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i181.i, i64 %idxprom4.i172.i
  %42 = load i64, ptr %arrayidx5.i182.i, align 8, !tbaa !15
  br label %for.body43.lr.ph.i

for.body43.lr.ph.i:                               ; preds = %if.end.i179.i, %if.then.i173.i
  %retval.0.i178.i = phi i64 [ %conv.i177.i, %if.then.i173.i ], [ %42, %if.end.i179.i ]
  %add.ptr.i209.i = getelementptr inbounds nuw i8, ptr %40, i64 %idx.ext.i.i
  %add.ptr3.i215.i = getelementptr inbounds nuw i8, ptr %40, i64 %idx.ext2.i.i
  br label %for.body43.i

for.cond.cleanup42.i:                             ; preds = %value_of.exit217.i
  br i1 %tobool.not.i186.i, label %if.else.i195.i, label %if.then.i187.i

if.then.i187.i:                                   ; preds = %for.cond.cleanup42.i
  %conv.i188.i = trunc i64 %or52.i to i32
  %add.ptr.i191.i = getelementptr inbounds nuw i8, ptr %40, i64 %idx.ext.i190.i
  %arrayidx.i193.i = getelementptr inbounds nuw i32, ptr %add.ptr.i191.i, i64 %idxprom4.i172.i
  store i32 %conv.i188.i, ptr %arrayidx.i193.i, align 4, !tbaa !2
  br label %if.end64.i

if.else.i195.i:                                   ; preds = %for.cond.cleanup42.i
  %add.ptr3.i198.i = getelementptr inbounds nuw i8, ptr %40, i64 %idx.ext2.i197.i
  %arrayidx5.i200.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i198.i, i64 %idxprom4.i172.i
  store i64 %or52.i, ptr %arrayidx5.i200.i, align 8, !tbaa !15
  br label %if.end64.i

for.body43.i:                                     ; preds = %value_of.exit217.i, %for.body43.lr.ph.i
  %o.0242.i = phi i64 [ %and, %for.body43.lr.ph.i ], [ %and55.i, %value_of.exit217.i ]
  %same.0241.i = phi i64 [ 0, %for.body43.lr.ph.i ], [ %or52.i, %value_of.exit217.i ]
  %43 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %o.0242.i, i1 true)
  %cast44.i = trunc nuw nsw i64 %43 to i32
  %add45.i = add i32 %base, %cast44.i
  %idxprom4.i206.i = zext i32 %add45.i to i64
  br i1 %tobool.not.i.i, label %if.end.i213.i, label %if.then.i207.i

if.then.i207.i:                                   ; preds = %for.body43.i
  %arrayidx.i210.i = getelementptr inbounds nuw i32, ptr %add.ptr.i209.i, i64 %idxprom4.i206.i
  %44 = load i32, ptr %arrayidx.i210.i, align 4, !tbaa !2
  %conv.i211.i = zext i32 %44 to i64
  br label %value_of.exit217.i

if.end.i213.i:                                    ; preds = %for.body43.i
  %arrayidx5.i216.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i215.i, i64 %idxprom4.i206.i
  %45 = load i64, ptr %arrayidx5.i216.i, align 8, !tbaa !15
  br label %value_of.exit217.i

value_of.exit217.i:                               ; preds = %if.end.i213.i, %if.then.i207.i
  %retval.0.i212.i = phi i64 [ %conv.i211.i, %if.then.i207.i ], [ %45, %if.end.i213.i ]
  %cmp47.i = icmp eq i64 %retval.0.i212.i, %retval.0.i178.i
  %conv49.i = zext i1 %cmp47.i to i64
  %shl51.i = shl nuw i64 %conv49.i, %43
  %or52.i = or i64 %shl51.i, %same.0241.i
  %sub54.i = add i64 %o.0242.i, -1
  %and55.i = and i64 %sub54.i, %o.0242.i
  %tobool41.not.i = icmp eq i64 %and55.i, 0
  br i1 %tobool41.not.i, label %for.cond.cleanup42.i, label %for.body43.i, !llvm.loop !38

if.then61.i:                                      ; preds = %for.body15.i
  %46 = load ptr, ptr %spill.i, align 8, !tbaa !27
  %idxprom4.i233.i = zext i32 %add18.i to i64
  br i1 %tobool.not.i186.i, label %if.else.i229.i, label %if.then.i221.i

if.then.i221.i:                                   ; preds = %if.then61.i
  %add.ptr.i225.i = getelementptr inbounds nuw i8, ptr %46, i64 %idx.ext.i190.i
  %arrayidx.i227.i = getelementptr inbounds nuw i32, ptr %add.ptr.i225.i, i64 %idxprom4.i233.i
  store i32 %conv.i222.i, ptr %arrayidx.i227.i, align 4, !tbaa !2
  br label %if.end64.i

if.else.i229.i:                                   ; preds = %if.then61.i
  %add.ptr3.i232.i = getelementptr inbounds nuw i8, ptr %46, i64 %idx.ext2.i197.i
  %arrayidx5.i234.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i232.i, i64 %idxprom4.i233.i
  store i64 %all.2.i, ptr %arrayidx5.i234.i, align 8, !tbaa !15
  br label %if.end64.i

if.end64.i:                                       ; preds = %if.else.i229.i, %if.then.i221.i, %if.else.i195.i, %if.then.i187.i, %if.else.i.i, %if.then.i155.i, %for.body15.i
  %sub66.i = add i64 %m11.0245.i, -1
  %and67.i = and i64 %sub66.i, %m11.0245.i
  %tobool13.not.i = icmp eq i64 %and67.i, 0
  br i1 %tobool13.not.i, label %apply.exit, label %for.body15.i, !llvm.loop !39

apply.exit:                                       ; preds = %if.end64.i, %if.then.i, %if.end10.i
  %or = or i64 %and, %done.0110
  %not22 = xor i64 %and, -1
  %and23 = and i64 %and4, %not22
  br label %cleanup24

cleanup24:                                        ; preds = %if.end, %apply.exit
  %left.1 = phi i64 [ %and4, %if.end ], [ %and23, %apply.exit ]
  %done.1 = phi i64 [ %done.0110, %if.end ], [ %or, %apply.exit ]
  %tobool.not = icmp eq i64 %left.1, 0
  br i1 %tobool.not, label %cleanup28, label %for.body

cleanup28:                                        ; preds = %cleanup24, %entry, %if.then16, %if.end.i83, %if.end.i, %if.then
  %spec.select = phi i64 [ 0, %if.then16 ], [ 0, %if.end.i83 ], [ 0, %if.end.i ], [ 0, %if.then ], [ 0, %entry ], [ %done.1, %cleanup24 ]
  ret i64 %spec.select
}

; Function Attrs: nounwind optsize
define dso_local range(i32 0, -1) i32 @simt_slow(ptr noundef %c) local_unnamed_addr #4 {
entry:
  %spun.i = alloca i64, align 8
  %0 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 8), align 4, !tbaa !30
  %cmp109.not = icmp eq i32 %0, 0
  %1 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 12), align 4
  %tobool.not = icmp eq i32 %1, 0
  %2 = load i32, ptr @simt_layout, align 4
  %cmp4112.not = icmp eq i32 %2, 0
  %state7 = getelementptr inbounds nuw i8, ptr %c, i64 40
  %wide.trip.count.i = zext i32 %2 to i64
  %spill1.i.i.i = getelementptr inbounds nuw i8, ptr %c, i64 16
  %3 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 24), align 4
  %idx.ext.i.i.i = zext i32 %3 to i64
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 20), align 4
  %idx.ext2.i.i.i = zext i32 %4 to i64
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 44), align 4
  %idx.ext.i47.i.i = zext i32 %5 to i64
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 40), align 4
  %idx.ext2.i52.i.i = zext i32 %6 to i64
  br label %for.cond

for.cond:                                         ; preds = %for.cond.backedge, %entry
  br i1 %cmp109.not, label %for.cond3.preheader, label %for.body

for.cond3.preheader.loopexit:                     ; preds = %run_warp.exit
  %7 = icmp ne i32 %progress.0.lcssa.i, 0
  br label %for.cond3.preheader

for.cond3.preheader:                              ; preds = %for.cond3.preheader.loopexit, %for.cond
  %progress.0.lcssa = phi i1 [ false, %for.cond ], [ %7, %for.cond3.preheader.loopexit ]
  br i1 %cmp4112.not, label %return, label %for.body6.lr.ph

for.body6.lr.ph:                                  ; preds = %for.cond3.preheader
  %8 = load ptr, ptr %state7, align 8, !tbaa !20
  br label %for.body6

for.body:                                         ; preds = %for.cond, %run_warp.exit
  %progress.0111 = phi i32 [ %progress.0.lcssa.i, %run_warp.exit ], [ 0, %for.cond ]
  %i.0110 = phi i32 [ %inc, %run_warp.exit ], [ 0, %for.cond ]
  %9 = xor i32 %i.0110, -1
  %sub2 = add i32 %0, %9
  %cond = select i1 %tobool.not, i32 %i.0110, i32 %sub2
  call void @llvm.lifetime.start.p0(ptr nonnull %spun.i) #10
  store i64 0, ptr %spun.i, align 8, !tbaa !15
  %10 = load ptr, ptr %c, align 8, !tbaa !6
  %status16.i = getelementptr inbounds nuw i8, ptr %10, i64 64
  %11 = load atomic i64, ptr %status16.i monotonic, align 8
  %tobool.not17.i = icmp eq i64 %11, 0
  br i1 %tobool.not17.i, label %if.end.i, label %run_warp.exit

if.end.i:                                         ; preds = %for.body, %if.end8.i
  %progress.018.i = phi i32 [ 1, %if.end8.i ], [ 0, %for.body ]
  %12 = load i64, ptr %spun.i, align 8, !tbaa !15
  %call.i = call fastcc i32 @advance(ptr noundef nonnull %c, i32 noundef %cond, i32 noundef 0, i64 noundef %12, ptr noundef %spun.i) #9
  %tobool1.not.i = icmp eq i32 %call.i, 0
  br i1 %tobool1.not.i, label %land.lhs.true.i, label %if.end8.i

land.lhs.true.i:                                  ; preds = %if.end.i
  %13 = load i64, ptr %spun.i, align 8, !tbaa !15
  %call2.i = call fastcc i32 @advance(ptr noundef nonnull %c, i32 noundef %cond, i32 noundef 1, i64 noundef %13, ptr noundef %spun.i) #9
  %tobool3.not.i = icmp eq i32 %call2.i, 0
  br i1 %tobool3.not.i, label %land.lhs.true4.i, label %if.end8.i

land.lhs.true4.i:                                 ; preds = %land.lhs.true.i
  %14 = load i64, ptr %spun.i, align 8, !tbaa !15
  %call5.i = call fastcc i32 @advance(ptr noundef nonnull %c, i32 noundef %cond, i32 noundef 2, i64 noundef %14, ptr noundef %spun.i) #9
  %tobool6.not.i = icmp eq i32 %call5.i, 0
  br i1 %tobool6.not.i, label %run_warp.exit.loopexit, label %if.end8.i

if.end8.i:                                        ; preds = %land.lhs.true4.i, %land.lhs.true.i, %if.end.i
  %15 = load ptr, ptr %c, align 8, !tbaa !6
  %status.i = getelementptr inbounds nuw i8, ptr %15, i64 64
  %16 = load atomic i64, ptr %status.i monotonic, align 8
  %tobool.not.i = icmp eq i64 %16, 0
  br i1 %tobool.not.i, label %if.end.i, label %run_warp.exit.loopexit

run_warp.exit.loopexit:                           ; preds = %if.end8.i, %land.lhs.true4.i
  %progress.0.lcssa.i.ph = phi i32 [ %progress.018.i, %land.lhs.true4.i ], [ 1, %if.end8.i ]
  %17 = or i32 %progress.0.lcssa.i.ph, %progress.0111
  br label %run_warp.exit

run_warp.exit:                                    ; preds = %run_warp.exit.loopexit, %for.body
  %progress.0.lcssa.i = phi i32 [ %progress.0111, %for.body ], [ %17, %run_warp.exit.loopexit ]
  call void @llvm.lifetime.end.p0(ptr nonnull %spun.i) #10
  %inc = add nuw i32 %i.0110, 1
  %exitcond.not = icmp eq i32 %inc, %0
  br i1 %exitcond.not, label %for.cond3.preheader.loopexit, label %for.body, !llvm.loop !40

for.cond.cleanup5:                                ; preds = %if.end
  %18 = icmp eq i32 %or13, 0
  br i1 %18, label %return, label %lor.lhs.false18

for.body6:                                        ; preds = %for.body6.lr.ph, %if.end
  %indvars.iv = phi i64 [ 0, %for.body6.lr.ph ], [ %indvars.iv.next, %if.end ]
  %waits.0114 = phi i32 [ 0, %for.body6.lr.ph ], [ %waits.1, %if.end ]
  %alive.0113 = phi i32 [ 0, %for.body6.lr.ph ], [ %or13, %if.end ]
  %arrayidx = getelementptr inbounds nuw i32, ptr %8, i64 %indvars.iv
  %19 = load i32, ptr %arrayidx, align 4, !tbaa !2
  %tobool8.not = icmp eq i32 %19, 0
  br i1 %tobool8.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body6
  %tobool9.not = icmp eq i32 %alive.0113, 0
  br i1 %tobool9.not, label %if.then, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %land.lhs.true
  %and = and i32 %19, 2147483647
  %idxprom10 = zext nneg i32 %and to i64
  %arrayidx11 = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom10
  %20 = load i32, ptr %arrayidx11, align 8, !tbaa !25
  %cmp12 = icmp eq i32 %20, 9
  br i1 %cmp12, label %if.then, label %if.end

if.then:                                          ; preds = %lor.lhs.false, %land.lhs.true
  %21 = trunc nuw i64 %indvars.iv to i32
  br label %if.end

if.end:                                           ; preds = %if.then, %lor.lhs.false, %for.body6
  %waits.1 = phi i32 [ %21, %if.then ], [ %waits.0114, %lor.lhs.false ], [ %waits.0114, %for.body6 ]
  %or13 = or i32 %19, %alive.0113
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond126.not = icmp eq i64 %indvars.iv.next, %wide.trip.count.i
  br i1 %exitcond126.not, label %for.cond.cleanup5, label %for.body6, !llvm.loop !41

lor.lhs.false18:                                  ; preds = %for.cond.cleanup5
  %22 = load ptr, ptr %state7, align 8, !tbaa !20
  %idxprom20 = zext i32 %waits.1 to i64
  %arrayidx21 = getelementptr inbounds nuw i32, ptr %22, i64 %idxprom20
  %23 = load i32, ptr %arrayidx21, align 4, !tbaa !2
  %and22 = and i32 %23, 2147483647
  %call23 = tail call i32 @simt_over(ptr noundef %c, i32 noundef %and22, i32 noundef %waits.1) #9
  %tobool24.not = icmp eq i32 %call23, 0
  br i1 %tobool24.not, label %for.body.lr.ph.i, label %return

for.body.lr.ph.i:                                 ; preds = %lor.lhs.false18
  %24 = load ptr, ptr %state7, align 8, !tbaa !20
  br label %for.body.i

for.body.i:                                       ; preds = %for.inc.i, %for.body.lr.ph.i
  %indvars.iv.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %indvars.iv.next.i, %for.inc.i ]
  %exited.099.i = phi i32 [ 0, %for.body.lr.ph.i ], [ %exited.1.i, %for.inc.i ]
  %same.098.i = phi i32 [ 1, %for.body.lr.ph.i ], [ %same.1.i, %for.inc.i ]
  %first.097.i = phi i32 [ 0, %for.body.lr.ph.i ], [ %first.2.i, %for.inc.i ]
  %arrayidx.i = getelementptr inbounds nuw i32, ptr %24, i64 %indvars.iv.i
  %25 = load i32, ptr %arrayidx.i, align 4, !tbaa !2
  %tobool.not.i63 = icmp eq i32 %25, 0
  br i1 %tobool.not.i63, label %for.inc.i, label %if.end.i64

if.end.i64:                                       ; preds = %for.body.i
  %tobool2.not.i = icmp eq i32 %first.097.i, 0
  %spec.select.i = select i1 %tobool2.not.i, i32 %25, i32 %first.097.i
  %idxprom5.i = zext i32 %25 to i64
  %arrayidx6.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom5.i
  %26 = load i32, ptr %arrayidx6.i, align 8, !tbaa !25
  %idxprom7.i = zext i32 %spec.select.i to i64
  %arrayidx8.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom7.i
  %27 = load i32, ptr %arrayidx8.i, align 8, !tbaa !25
  %cmp10.not.i = icmp ne i32 %26, %27
  %cmp14.i = icmp ugt i32 %26, 2
  %or.cond82.i = or i1 %cmp14.i, %cmp10.not.i
  br i1 %or.cond82.i, label %if.end32, label %lor.lhs.false15.i

lor.lhs.false15.i:                                ; preds = %if.end.i64
  %line.i = getelementptr inbounds nuw i8, ptr %arrayidx6.i, i64 4
  %28 = load i32, ptr %line.i, align 4, !tbaa !18
  %line20.i = getelementptr inbounds nuw i8, ptr %arrayidx8.i, i64 4
  %29 = load i32, ptr %line20.i, align 4, !tbaa !18
  %cmp21.not.i = icmp eq i32 %28, %29
  br i1 %cmp21.not.i, label %if.end23.i, label %if.end32

if.end23.i:                                       ; preds = %lor.lhs.false15.i
  %cmp24.i = icmp eq i32 %25, %spec.select.i
  %and.i = select i1 %cmp24.i, i32 %same.098.i, i32 0
  br label %for.inc.i

for.inc.i:                                        ; preds = %if.end23.i, %for.body.i
  %first.2.i = phi i32 [ %first.097.i, %for.body.i ], [ %spec.select.i, %if.end23.i ]
  %same.1.i = phi i32 [ %same.098.i, %for.body.i ], [ %and.i, %if.end23.i ]
  %exited.1.i = phi i32 [ 1, %for.body.i ], [ %exited.099.i, %if.end23.i ]
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond.not.i, label %for.end.i, label %for.body.i, !llvm.loop !42

for.end.i:                                        ; preds = %for.inc.i
  %30 = icmp ne i32 %same.1.i, 0
  %31 = icmp eq i32 %exited.1.i, 0
  %.not130.i = select i1 %30, i1 %31, i1 false
  %idxprom27.i = zext i32 %first.2.i to i64
  %arrayidx28.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom27.i
  %32 = load i32, ptr %arrayidx28.i, align 8, !tbaa !25
  %cmp30.not.i = icmp eq i32 %32, 2
  br i1 %cmp30.not.i, label %for.body.i.i, label %if.end33.i

for.cond9.preheader.i.i:                          ; preds = %for.inc.i.i
  %conv.i.i = zext i32 %count.1.i.i to i64
  br label %for.body12.i.i

for.body.i.i:                                     ; preds = %for.end.i, %for.inc.i.i
  %indvars.iv.i.i = phi i64 [ %indvars.iv.next.i.i, %for.inc.i.i ], [ 0, %for.end.i ]
  %count.057.i.i = phi i32 [ %count.1.i.i, %for.inc.i.i ], [ 0, %for.end.i ]
  %arrayidx.i.i = getelementptr inbounds nuw i32, ptr %24, i64 %indvars.iv.i.i
  %33 = load i32, ptr %arrayidx.i.i, align 4, !tbaa !2
  %tobool.not.i.i = icmp eq i32 %33, 0
  br i1 %tobool.not.i.i, label %for.inc.i.i, label %land.lhs.true.i.i

land.lhs.true.i.i:                                ; preds = %for.body.i.i
  %idxprom4.i.i = zext i32 %33 to i64
  %arrayidx5.i.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom4.i.i
  %flags.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx5.i.i, i64 12
  %34 = load i32, ptr %flags.i.i.i, align 4, !tbaa !26
  %and.i.i.i = and i32 %34, 8
  %tobool.not.i.i.i = icmp eq i32 %and.i.i.i, 0
  %35 = load ptr, ptr %spill1.i.i.i, align 8, !tbaa !27
  br i1 %tobool.not.i.i.i, label %if.end.i.i.i, label %if.then.i.i.i

if.then.i.i.i:                                    ; preds = %land.lhs.true.i.i
  %add.ptr.i.i.i = getelementptr inbounds nuw i8, ptr %35, i64 %idx.ext.i.i.i
  %arrayidx.i.i.i = getelementptr inbounds nuw i32, ptr %add.ptr.i.i.i, i64 %indvars.iv.i.i
  %36 = load i32, ptr %arrayidx.i.i.i, align 4, !tbaa !2
  %conv.i.i.i = zext i32 %36 to i64
  br label %value_of.exit.i.i

if.end.i.i.i:                                     ; preds = %land.lhs.true.i.i
  %add.ptr3.i.i.i = getelementptr inbounds nuw i8, ptr %35, i64 %idx.ext2.i.i.i
  %arrayidx5.i.i.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i.i.i, i64 %indvars.iv.i.i
  %37 = load i64, ptr %arrayidx5.i.i.i, align 8, !tbaa !15
  br label %value_of.exit.i.i

value_of.exit.i.i:                                ; preds = %if.end.i.i.i, %if.then.i.i.i
  %retval.0.i.i.i = phi i64 [ %conv.i.i.i, %if.then.i.i.i ], [ %37, %if.end.i.i.i ]
  %tobool6.not.i.i = icmp ne i64 %retval.0.i.i.i, 0
  %inc.i.i = zext i1 %tobool6.not.i.i to i32
  %spec.select.i.i = add i32 %count.057.i.i, %inc.i.i
  br label %for.inc.i.i

for.inc.i.i:                                      ; preds = %value_of.exit.i.i, %for.body.i.i
  %count.1.i.i = phi i32 [ %count.057.i.i, %for.body.i.i ], [ %spec.select.i.i, %value_of.exit.i.i ]
  %indvars.iv.next.i.i = add nuw nsw i64 %indvars.iv.i.i, 1
  %exitcond.not.i.i = icmp eq i64 %indvars.iv.next.i.i, %wide.trip.count.i
  br i1 %exitcond.not.i.i, label %for.cond9.preheader.i.i, label %for.body.i.i, !llvm.loop !43

for.body12.i.i:                                   ; preds = %for.inc24.i.i, %for.cond9.preheader.i.i
  %indvars.iv63.i.i = phi i64 [ 0, %for.cond9.preheader.i.i ], [ %indvars.iv.next64.i.i, %for.inc24.i.i ]
  %arrayidx15.i.i = getelementptr inbounds nuw i32, ptr %24, i64 %indvars.iv63.i.i
  %38 = load i32, ptr %arrayidx15.i.i, align 4, !tbaa !2
  %tobool16.not.i.i = icmp eq i32 %38, 0
  br i1 %tobool16.not.i.i, label %for.inc24.i.i, label %if.then17.i.i

if.then17.i.i:                                    ; preds = %for.body12.i.i
  %idxprom21.i.i = zext i32 %38 to i64
  %arrayidx22.i.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom21.i.i
  %flags.i42.i.i = getelementptr inbounds nuw i8, ptr %arrayidx22.i.i, i64 12
  %39 = load i32, ptr %flags.i42.i.i, align 4, !tbaa !26
  %and.i43.i.i = and i32 %39, 16
  %tobool.not.i44.i.i = icmp eq i32 %and.i43.i.i, 0
  %40 = load ptr, ptr %spill1.i.i.i, align 8, !tbaa !27
  br i1 %tobool.not.i44.i.i, label %if.else.i.i.i, label %if.then.i45.i.i

if.then.i45.i.i:                                  ; preds = %if.then17.i.i
  %add.ptr.i48.i.i = getelementptr inbounds nuw i8, ptr %40, i64 %idx.ext.i47.i.i
  %arrayidx.i49.i.i = getelementptr inbounds nuw i32, ptr %add.ptr.i48.i.i, i64 %indvars.iv63.i.i
  store i32 %count.1.i.i, ptr %arrayidx.i49.i.i, align 4, !tbaa !2
  br label %for.inc24.i.i

if.else.i.i.i:                                    ; preds = %if.then17.i.i
  %add.ptr3.i53.i.i = getelementptr inbounds nuw i8, ptr %40, i64 %idx.ext2.i52.i.i
  %arrayidx5.i55.i.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i53.i.i, i64 %indvars.iv63.i.i
  store i64 %conv.i.i, ptr %arrayidx5.i55.i.i, align 8, !tbaa !15
  br label %for.inc24.i.i

for.inc24.i.i:                                    ; preds = %if.else.i.i.i, %if.then.i45.i.i, %for.body12.i.i
  %indvars.iv.next64.i.i = add nuw nsw i64 %indvars.iv63.i.i, 1
  %exitcond67.not.i.i = icmp eq i64 %indvars.iv.next64.i.i, %wide.trip.count.i
  br i1 %exitcond67.not.i.i, label %if.end33.i, label %for.body12.i.i, !llvm.loop !44

if.end33.i:                                       ; preds = %for.inc24.i.i, %for.end.i
  br i1 %.not130.i, label %release.exit, label %for.body43.i

for.body43.i:                                     ; preds = %if.end33.i, %for.inc53.i
  %indvars.iv108.i = phi i64 [ %indvars.iv.next109.i, %for.inc53.i ], [ 0, %if.end33.i ]
  %arrayidx46.i = getelementptr inbounds nuw i32, ptr %24, i64 %indvars.iv108.i
  %41 = load i32, ptr %arrayidx46.i, align 4, !tbaa !2
  %tobool47.not.i = icmp eq i32 %41, 0
  br i1 %tobool47.not.i, label %for.inc53.i, label %if.then48.i

if.then48.i:                                      ; preds = %for.body43.i
  %or.i = or i32 %41, -2147483648
  store i32 %or.i, ptr %arrayidx46.i, align 4, !tbaa !2
  br label %for.inc53.i

for.inc53.i:                                      ; preds = %if.then48.i, %for.body43.i
  %indvars.iv.next109.i = add nuw nsw i64 %indvars.iv108.i, 1
  %exitcond112.not.i = icmp eq i64 %indvars.iv.next109.i, %wide.trip.count.i
  br i1 %exitcond112.not.i, label %for.cond.backedge, label %for.body43.i, !llvm.loop !45

release.exit:                                     ; preds = %if.end33.i
  %42 = add i32 %first.2.i, -1
  %or.cond = icmp ult i32 %42, -2
  br i1 %or.cond, label %return, label %if.end32

if.end32:                                         ; preds = %lor.lhs.false15.i, %if.end.i64, %release.exit
  %retval.3.i85 = phi i32 [ %first.2.i, %release.exit ], [ 0, %if.end.i64 ], [ 0, %lor.lhs.false15.i ]
  %tobool28 = icmp ne i32 %retval.3.i85, 0
  %or.cond41 = select i1 %tobool28, i1 true, i1 %progress.0.lcssa
  br i1 %or.cond41, label %for.cond.backedge, label %for.body.lr.ph.i65

for.cond.backedge:                                ; preds = %for.inc53.i, %if.end32
  br label %for.cond

for.body.lr.ph.i65:                               ; preds = %if.end32
  %43 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 4), align 4
  %44 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 28), align 4
  %idx.ext.i.i = zext i32 %44 to i64
  br label %for.body.i67

for.cond51.preheader.i:                           ; preds = %for.inc46.i
  %cmp52.i = icmp eq i32 %first.3.i, -1
  br i1 %cmp52.i, label %cond.end.i, label %for.body57.lr.ph.i

for.body57.lr.ph.i:                               ; preds = %for.cond51.preheader.i
  %idxprom70.i = zext i32 %first.3.i to i64
  %arrayidx71.i = getelementptr inbounds nuw i32, ptr %24, i64 %idxprom70.i
  br label %for.body57.i

for.body.i67:                                     ; preds = %for.inc46.i, %for.body.lr.ph.i65
  %indvars.iv.i68 = phi i64 [ 0, %for.body.lr.ph.i65 ], [ %indvars.iv.next.i80, %for.inc46.i ]
  %first.0219.i = phi i32 [ -1, %for.body.lr.ph.i65 ], [ %first.3.i, %for.inc46.i ]
  %arrayidx.i69 = getelementptr inbounds nuw i32, ptr %24, i64 %indvars.iv.i68
  %45 = load i32, ptr %arrayidx.i69, align 4, !tbaa !2
  %tobool.not.i70 = icmp eq i32 %45, 0
  br i1 %tobool.not.i70, label %for.inc46.i, label %if.end.i71

if.end.i71:                                       ; preds = %for.body.i67
  %idxprom4.i = zext i32 %45 to i64
  %arrayidx5.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom4.i
  %46 = load i32, ptr %arrayidx5.i, align 8, !tbaa !25
  %cmp6.i = icmp ult i32 %46, 3
  br i1 %cmp6.i, label %if.then7.i, label %if.end11.i

if.then7.i:                                       ; preds = %if.end.i71
  %cmp8.i = icmp eq i32 %first.0219.i, -1
  %47 = trunc nuw i64 %indvars.iv.i68 to i32
  %spec.select.i82 = select i1 %cmp8.i, i32 %47, i32 %first.0219.i
  br label %for.inc46.i

if.end11.i:                                       ; preds = %if.end.i71
  %48 = trunc nuw i64 %indvars.iv.i68 to i32
  %49 = urem i32 %48, %43
  %mul.i = sub i32 %48, %49
  %flags.i.i = getelementptr inbounds nuw i8, ptr %arrayidx5.i, i64 12
  %50 = load i32, ptr %flags.i.i, align 4, !tbaa !26
  %and.i.i = and i32 %50, 1
  %tobool.not.i.i72 = icmp eq i32 %and.i.i, 0
  br i1 %tobool.not.i.i72, label %cond.false.i.i, label %cond.true.i.i

cond.true.i.i:                                    ; preds = %if.end11.i
  %51 = load ptr, ptr %spill1.i.i.i, align 8, !tbaa !27
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %51, i64 %idx.ext.i.i
  %arrayidx.i.i73 = getelementptr inbounds nuw i64, ptr %add.ptr.i.i, i64 %indvars.iv.i68
  br label %mask_of.exit.i

cond.false.i.i:                                   ; preds = %if.end11.i
  %mask.i.i = getelementptr inbounds nuw i8, ptr %arrayidx5.i, i64 24
  br label %mask_of.exit.i

mask_of.exit.i:                                   ; preds = %cond.false.i.i, %cond.true.i.i
  %cond.in.i.i = phi ptr [ %arrayidx.i.i73, %cond.true.i.i ], [ %mask.i.i, %cond.false.i.i ]
  %cond.i.i = load i64, ptr %cond.in.i.i, align 8, !tbaa !15
  %mul.i.neg.i = sub i32 %2, %48
  %sub.i.i = add i32 %mul.i.neg.i, %49
  %spec.select.i.i74 = tail call i32 @llvm.umin.i32(i32 %sub.i.i, i32 %43)
  %cmp1.i.i = icmp eq i32 %spec.select.i.i74, 64
  %sh_prom.i.i = zext nneg i32 %spec.select.i.i74 to i64
  %notmask.i.i = shl nsw i64 -1, %sh_prom.i.i
  %sub2.i.i = xor i64 %notmask.i.i, -1
  %cond.i168.i = select i1 %cmp1.i.i, i64 -1, i64 %sub2.i.i
  %and.i75 = and i64 %cond.i.i, %cond.i168.i
  %tobool15.not215.i = icmp eq i64 %and.i75, 0
  br i1 %tobool15.not215.i, label %for.inc46.i, label %for.body17.i

for.body17.i:                                     ; preds = %mask_of.exit.i, %for.inc.i79
  %m.0216.i = phi i64 [ %and39.i, %for.inc.i79 ], [ %and.i75, %mask_of.exit.i ]
  %52 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %m.0216.i, i1 true)
  %cast.i = trunc nuw nsw i64 %52 to i32
  %add.i = add i32 %mul.i, %cast.i
  %idxprom19.i = zext i32 %add.i to i64
  %arrayidx20.i = getelementptr inbounds nuw i32, ptr %24, i64 %idxprom19.i
  %53 = load i32, ptr %arrayidx20.i, align 4, !tbaa !2
  %tobool21.not.i = icmp eq i32 %53, 0
  %cmp28.not.i = icmp eq i32 %53, %45
  %or.cond.i = or i1 %tobool21.not.i, %cmp28.not.i
  br i1 %or.cond.i, label %for.inc.i79, label %if.then29.i

if.then29.i:                                      ; preds = %for.body17.i
  %line.i76 = getelementptr inbounds nuw i8, ptr %arrayidx5.i, i64 4
  %54 = load i32, ptr %line.i76, align 4, !tbaa !18
  %idxprom33.i = zext i32 %53 to i64
  %arrayidx34.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom33.i
  %line35.i = getelementptr inbounds nuw i8, ptr %arrayidx34.i, i64 4
  %55 = load i32, ptr %line35.i, align 4, !tbaa !18
  %conv.i = zext i32 %55 to i64
  br i1 %tobool.not.i.i72, label %cond.false.i180.i, label %cond.true.i172.i

cond.true.i172.i:                                 ; preds = %if.then29.i
  %56 = load ptr, ptr %spill1.i.i.i, align 8, !tbaa !27
  %add.ptr.i175.i = getelementptr inbounds nuw i8, ptr %56, i64 %idx.ext.i.i
  %arrayidx.i177.i = getelementptr inbounds nuw i64, ptr %add.ptr.i175.i, i64 %indvars.iv.i68
  br label %mask_of.exit182.i

cond.false.i180.i:                                ; preds = %if.then29.i
  %mask.i181.i = getelementptr inbounds nuw i8, ptr %arrayidx5.i, i64 24
  br label %mask_of.exit182.i

mask_of.exit182.i:                                ; preds = %cond.false.i180.i, %cond.true.i172.i
  %cond.in.i178.i = phi ptr [ %arrayidx.i177.i, %cond.true.i172.i ], [ %mask.i181.i, %cond.false.i180.i ]
  %cond.i179.i = load i64, ptr %cond.in.i178.i, align 8, !tbaa !15
  %57 = load ptr, ptr %c, align 8, !tbaa !6
  %status.i.i = getelementptr inbounds nuw i8, ptr %57, i64 64
  %58 = cmpxchg ptr %status.i.i, i64 0, i64 -1 acq_rel acquire, align 8
  %59 = extractvalue { i64, i1 } %58, 1
  br i1 %59, label %if.end.i.i, label %return

if.end.i.i:                                       ; preds = %mask_of.exit182.i
  %conv.i.i77 = zext i32 %54 to i64
  %detail.i.i = getelementptr inbounds nuw i8, ptr %57, i64 72
  store i64 %conv.i.i77, ptr %detail.i.i, align 8, !tbaa !15
  %number.i.i = getelementptr inbounds nuw i8, ptr %c, i64 80
  %60 = load i64, ptr %number.i.i, align 8, !tbaa !16
  %arrayidx2.i.i = getelementptr inbounds nuw i8, ptr %57, i64 80
  store i64 %60, ptr %arrayidx2.i.i, align 8, !tbaa !15
  %arrayidx5.i.i78 = getelementptr inbounds nuw i8, ptr %57, i64 88
  store i64 %indvars.iv.i68, ptr %arrayidx5.i.i78, align 8, !tbaa !15
  %arrayidx7.i.i = getelementptr inbounds nuw i8, ptr %57, i64 96
  store i64 %conv.i, ptr %arrayidx7.i.i, align 8, !tbaa !15
  %arrayidx9.i.i = getelementptr inbounds nuw i8, ptr %57, i64 104
  store i64 %idxprom19.i, ptr %arrayidx9.i.i, align 8, !tbaa !15
  %arrayidx11.i.i = getelementptr inbounds nuw i8, ptr %57, i64 112
  store i64 %cond.i179.i, ptr %arrayidx11.i.i, align 8, !tbaa !15
  store atomic i64 4, ptr %status.i.i release, align 8
  br label %return

for.inc.i79:                                      ; preds = %for.body17.i
  %sub.i = add i64 %m.0216.i, -1
  %and39.i = and i64 %sub.i, %m.0216.i
  %tobool15.not.i = icmp eq i64 %and39.i, 0
  br i1 %tobool15.not.i, label %for.inc46.i, label %for.body17.i, !llvm.loop !46

for.inc46.i:                                      ; preds = %for.inc.i79, %mask_of.exit.i, %if.then7.i, %for.body.i67
  %first.3.i = phi i32 [ %first.0219.i, %for.body.i67 ], [ %spec.select.i82, %if.then7.i ], [ %first.0219.i, %mask_of.exit.i ], [ %first.0219.i, %for.inc.i79 ]
  %indvars.iv.next.i80 = add nuw nsw i64 %indvars.iv.i68, 1
  %exitcond.not.i81 = icmp eq i64 %indvars.iv.next.i80, %wide.trip.count.i
  br i1 %exitcond.not.i81, label %for.cond51.preheader.i, label %for.body.i67, !llvm.loop !47

for.body57.i:                                     ; preds = %for.inc93.i, %for.body57.lr.ph.i
  %indvars.iv232.i = phi i64 [ 0, %for.body57.lr.ph.i ], [ %indvars.iv.next233.i, %for.inc93.i ]
  %arrayidx60.i = getelementptr inbounds nuw i32, ptr %24, i64 %indvars.iv232.i
  %61 = load i32, ptr %arrayidx60.i, align 4, !tbaa !2
  %tobool61.not.i = icmp eq i32 %61, 0
  br i1 %tobool61.not.i, label %for.inc93.i, label %land.lhs.true62.i

land.lhs.true62.i:                                ; preds = %for.body57.i
  %idxprom66.i = zext i32 %61 to i64
  %arrayidx67.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom66.i
  %line68.i = getelementptr inbounds nuw i8, ptr %arrayidx67.i, i64 4
  %62 = load i32, ptr %line68.i, align 4, !tbaa !18
  %63 = load i32, ptr %arrayidx71.i, align 4, !tbaa !2
  %idxprom72.i = zext i32 %63 to i64
  %arrayidx73.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom72.i
  %line74.i = getelementptr inbounds nuw i8, ptr %arrayidx73.i, i64 4
  %64 = load i32, ptr %line74.i, align 4, !tbaa !18
  %cmp75.not.i = icmp eq i32 %62, %64
  br i1 %cmp75.not.i, label %for.inc93.i, label %if.then77.i

if.then77.i:                                      ; preds = %land.lhs.true62.i
  %65 = load ptr, ptr %c, align 8, !tbaa !6
  %status.i183.i = getelementptr inbounds nuw i8, ptr %65, i64 64
  %66 = cmpxchg ptr %status.i183.i, i64 0, i64 -1 acq_rel acquire, align 8
  %67 = extractvalue { i64, i1 } %66, 1
  br i1 %67, label %if.end.i184.i, label %return

if.end.i184.i:                                    ; preds = %if.then77.i
  %conv90.i = zext i32 %62 to i64
  %conv.i185.i = zext i32 %64 to i64
  %detail.i186.i = getelementptr inbounds nuw i8, ptr %65, i64 72
  store i64 %conv.i185.i, ptr %detail.i186.i, align 8, !tbaa !15
  %number.i187.i = getelementptr inbounds nuw i8, ptr %c, i64 80
  %68 = load i64, ptr %number.i187.i, align 8, !tbaa !16
  %arrayidx2.i188.i = getelementptr inbounds nuw i8, ptr %65, i64 80
  store i64 %68, ptr %arrayidx2.i188.i, align 8, !tbaa !15
  %arrayidx5.i190.i = getelementptr inbounds nuw i8, ptr %65, i64 88
  store i64 %idxprom70.i, ptr %arrayidx5.i190.i, align 8, !tbaa !15
  %arrayidx7.i191.i = getelementptr inbounds nuw i8, ptr %65, i64 96
  store i64 %conv90.i, ptr %arrayidx7.i191.i, align 8, !tbaa !15
  %arrayidx9.i192.i = getelementptr inbounds nuw i8, ptr %65, i64 104
  store i64 %indvars.iv232.i, ptr %arrayidx9.i192.i, align 8, !tbaa !15
  %arrayidx11.i193.i = getelementptr inbounds nuw i8, ptr %65, i64 112
  store i64 0, ptr %arrayidx11.i193.i, align 8, !tbaa !15
  store atomic i64 3, ptr %status.i183.i release, align 8
  br label %return

for.inc93.i:                                      ; preds = %land.lhs.true62.i, %for.body57.i
  %indvars.iv.next233.i = add nuw nsw i64 %indvars.iv232.i, 1
  %exitcond127.not = icmp eq i64 %indvars.iv.next233.i, %wide.trip.count.i
  br i1 %exitcond127.not, label %cond.false.i, label %for.body57.i, !llvm.loop !48

cond.false.i:                                     ; preds = %for.inc93.i
  %69 = load i32, ptr %arrayidx71.i, align 4, !tbaa !2
  %idxprom103.i = zext i32 %69 to i64
  %arrayidx104.i = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom103.i
  %line105.i = getelementptr inbounds nuw i8, ptr %arrayidx104.i, i64 4
  %70 = load i32, ptr %line105.i, align 4, !tbaa !18
  %71 = zext i32 %70 to i64
  br label %cond.end.i

cond.end.i:                                       ; preds = %for.cond51.preheader.i, %cond.false.i
  %first.0.lcssa243247.i = phi i64 [ %idxprom70.i, %cond.false.i ], [ 4294967295, %for.cond51.preheader.i ]
  %cond.i = phi i64 [ %71, %cond.false.i ], [ 0, %for.cond51.preheader.i ]
  %72 = load ptr, ptr %c, align 8, !tbaa !6
  %status.i195.i = getelementptr inbounds nuw i8, ptr %72, i64 64
  %73 = cmpxchg ptr %status.i195.i, i64 0, i64 -1 acq_rel acquire, align 8
  %74 = extractvalue { i64, i1 } %73, 1
  br i1 %74, label %if.end.i196.i, label %return

if.end.i196.i:                                    ; preds = %cond.end.i
  %detail.i198.i = getelementptr inbounds nuw i8, ptr %72, i64 72
  store i64 %cond.i, ptr %detail.i198.i, align 8, !tbaa !15
  %number.i199.i = getelementptr inbounds nuw i8, ptr %c, i64 80
  %75 = load i64, ptr %number.i199.i, align 8, !tbaa !16
  %arrayidx2.i200.i = getelementptr inbounds nuw i8, ptr %72, i64 80
  store i64 %75, ptr %arrayidx2.i200.i, align 8, !tbaa !15
  %arrayidx5.i202.i = getelementptr inbounds nuw i8, ptr %72, i64 88
  store i64 %first.0.lcssa243247.i, ptr %arrayidx5.i202.i, align 8, !tbaa !15
  %arrayidx7.i203.i = getelementptr inbounds nuw i8, ptr %72, i64 96
  store i64 0, ptr %arrayidx7.i203.i, align 8, !tbaa !15
  %arrayidx9.i204.i = getelementptr inbounds nuw i8, ptr %72, i64 104
  store i64 0, ptr %arrayidx9.i204.i, align 8, !tbaa !15
  %arrayidx11.i205.i = getelementptr inbounds nuw i8, ptr %72, i64 112
  store i64 0, ptr %arrayidx11.i205.i, align 8, !tbaa !15
  store atomic i64 4, ptr %status.i195.i release, align 8
  br label %return

return:                                           ; preds = %for.cond3.preheader, %for.cond.cleanup5, %lor.lhs.false18, %release.exit, %mask_of.exit182.i, %if.end.i.i, %if.then77.i, %if.end.i184.i, %cond.end.i, %if.end.i196.i
  %retval.2.ph = phi i32 [ 0, %if.end.i196.i ], [ 0, %cond.end.i ], [ 0, %if.end.i184.i ], [ 0, %if.then77.i ], [ 0, %if.end.i.i ], [ 0, %mask_of.exit182.i ], [ 0, %for.cond3.preheader ], [ 0, %for.cond.cleanup5 ], [ 0, %lor.lhs.false18 ], [ %first.2.i, %release.exit ]
  ret i32 %retval.2.ph
}

; Function Attrs: nofree norecurse nosync nounwind optsize memory(write, argmem: readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define dso_local void @simt_same(ptr noundef readonly captures(none) %c, i32 noundef %site) local_unnamed_addr #5 {
entry:
  %0 = load i32, ptr @simt_layout, align 4, !tbaa !21
  %cmp3.not = icmp eq i32 %0, 0
  br i1 %cmp3.not, label %for.cond.cleanup, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %entry
  %state = getelementptr inbounds nuw i8, ptr %c, i64 40
  %1 = load ptr, ptr %state, align 8, !tbaa !20
  %wide.trip.count = zext i32 %0 to i64
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.body, %entry
  ret void

for.body:                                         ; preds = %for.body.lr.ph, %for.body
  %indvars.iv = phi i64 [ 0, %for.body.lr.ph ], [ %indvars.iv.next, %for.body ]
  %arrayidx = getelementptr inbounds nuw i32, ptr %1, i64 %indvars.iv
  store i32 %site, ptr %arrayidx, align 4, !tbaa !2
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, %wide.trip.count
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body, !llvm.loop !49
}

; Function Attrs: nofree norecurse nounwind optsize memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define dso_local range(i32 0, 2) i32 @simt_check(ptr noundef readonly captures(none) %c, i64 noundef %at, i64 noundef %bytes, i32 noundef %align, i32 noundef %line, i32 noundef %thread_write) local_unnamed_addr #3 {
entry:
  %0 = load ptr, ptr %c, align 8, !tbaa !6
  %hooks = getelementptr inbounds nuw i8, ptr %0, i64 128
  %1 = load ptr, ptr %hooks, align 8, !tbaa !50
  %spill2 = getelementptr inbounds nuw i8, ptr %c, i64 16
  %2 = load ptr, ptr %spill2, align 8, !tbaa !27
  %3 = ptrtoint ptr %2 to i64
  %4 = load i64, ptr %1, align 8, !tbaa !53
  %sub = add i32 %align, -1
  %conv = zext i32 %sub to i64
  %and = and i64 %at, %conv
  %tobool.not = icmp eq i64 %and, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %status.i = getelementptr inbounds nuw i8, ptr %0, i64 64
  %5 = cmpxchg ptr %status.i, i64 0, i64 -1 acq_rel acquire, align 8
  %6 = extractvalue { i64, i1 } %5, 1
  br i1 %6, label %if.end.i, label %cleanup

if.end.i:                                         ; preds = %if.then
  %and3 = and i32 %thread_write, 1
  %conv4 = zext nneg i32 %and3 to i64
  %shr = lshr i32 %thread_write, 1
  %conv.i = zext i32 %line to i64
  %detail.i = getelementptr inbounds nuw i8, ptr %0, i64 72
  store i64 %conv.i, ptr %detail.i, align 8, !tbaa !15
  %number.i = getelementptr inbounds nuw i8, ptr %c, i64 80
  %7 = load i64, ptr %number.i, align 8, !tbaa !16
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %7, ptr %arrayidx2.i, align 8, !tbaa !15
  %conv3.i = zext nneg i32 %shr to i64
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %0, i64 88
  store i64 %conv3.i, ptr %arrayidx5.i, align 8, !tbaa !15
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 %at, ptr %arrayidx7.i, align 8, !tbaa !15
  %arrayidx9.i = getelementptr inbounds nuw i8, ptr %0, i64 104
  store i64 %bytes, ptr %arrayidx9.i, align 8, !tbaa !15
  %arrayidx11.i = getelementptr inbounds nuw i8, ptr %0, i64 112
  store i64 %conv4, ptr %arrayidx11.i, align 8, !tbaa !15
  store atomic i64 7, ptr %status.i release, align 8
  br label %cleanup

if.end:                                           ; preds = %entry
  %shared1 = getelementptr inbounds nuw i8, ptr %c, i64 8
  %8 = load ptr, ptr %shared1, align 8, !tbaa !56
  %9 = ptrtoint ptr %8 to i64
  %sub5 = sub i64 %at, %9
  %worker = getelementptr inbounds nuw i8, ptr %c, i64 88
  %10 = load ptr, ptr %worker, align 8, !tbaa !57
  %shared_bytes = getelementptr inbounds nuw i8, ptr %10, i64 8
  %11 = load i64, ptr %shared_bytes, align 8, !tbaa !58
  %cmp = icmp uge i64 %sub5, %11
  %add = add i64 %sub5, %bytes
  %cmp10.not = icmp ugt i64 %add, %11
  %or.cond = or i1 %cmp, %cmp10.not
  br i1 %or.cond, label %if.end13, label %cleanup

if.end13:                                         ; preds = %if.end
  %sub14 = sub i64 %at, %3
  %spill_bytes = getelementptr inbounds nuw i8, ptr %10, i64 24
  %12 = load i64, ptr %spill_bytes, align 8, !tbaa !60
  %cmp16 = icmp ult i64 %sub14, %12
  br i1 %cmp16, label %cleanup, label %while.cond.preheader

while.cond.preheader:                             ; preds = %if.end13
  %cmp2099.not = icmp eq i64 %4, 0
  br i1 %cmp2099.not, label %while.end, label %while.body.lr.ph

while.body.lr.ph:                                 ; preds = %while.cond.preheader
  %allocations = getelementptr inbounds nuw i8, ptr %1, i64 8
  %13 = load ptr, ptr %allocations, align 8, !tbaa !61
  br label %while.body

while.body:                                       ; preds = %while.body.lr.ph, %while.body
  %high.0101 = phi i64 [ %4, %while.body.lr.ph ], [ %high.1, %while.body ]
  %low.0100 = phi i64 [ 0, %while.body.lr.ph ], [ %low.1, %while.body ]
  %add22 = add i64 %high.0101, %low.0100
  %div86 = lshr i64 %add22, 1
  %arrayidx = getelementptr inbounds nuw %struct.Range, ptr %13, i64 %div86
  %end = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %14 = load i64, ptr %end, align 8, !tbaa !62
  %cmp23 = icmp ugt i64 %14, %at
  %add26 = add nuw i64 %div86, 1
  %low.1 = select i1 %cmp23, i64 %low.0100, i64 %add26
  %high.1 = select i1 %cmp23, i64 %div86, i64 %high.0101
  %cmp20 = icmp ult i64 %low.1, %high.1
  br i1 %cmp20, label %while.body, label %while.end, !llvm.loop !64

while.end:                                        ; preds = %while.body, %while.cond.preheader
  %low.0.lcssa = phi i64 [ 0, %while.cond.preheader ], [ %low.1, %while.body ]
  %cmp29 = icmp ult i64 %low.0.lcssa, %4
  br i1 %cmp29, label %land.lhs.true31, label %if.end44

land.lhs.true31:                                  ; preds = %while.end
  %allocations32 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %15 = load ptr, ptr %allocations32, align 8, !tbaa !61
  %arrayidx33 = getelementptr inbounds nuw %struct.Range, ptr %15, i64 %low.0.lcssa
  %16 = load i64, ptr %arrayidx33, align 8, !tbaa !65
  %cmp34.not = icmp ugt i64 %16, %at
  br i1 %cmp34.not, label %if.end44, label %land.lhs.true36

land.lhs.true36:                                  ; preds = %land.lhs.true31
  %add37 = add i64 %bytes, %at
  %end40 = getelementptr inbounds nuw i8, ptr %arrayidx33, i64 8
  %17 = load i64, ptr %end40, align 8, !tbaa !62
  %cmp41.not = icmp ugt i64 %add37, %17
  br i1 %cmp41.not, label %if.end44, label %cleanup

if.end44:                                         ; preds = %land.lhs.true36, %land.lhs.true31, %while.end
  %status.i87 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %18 = cmpxchg ptr %status.i87, i64 0, i64 -1 acq_rel acquire, align 8
  %19 = extractvalue { i64, i1 } %18, 1
  br i1 %19, label %if.end.i88, label %cleanup

if.end.i88:                                       ; preds = %if.end44
  %and46 = and i32 %thread_write, 1
  %conv47 = zext nneg i32 %and46 to i64
  %shr45 = lshr i32 %thread_write, 1
  %conv.i89 = zext i32 %line to i64
  %detail.i90 = getelementptr inbounds nuw i8, ptr %0, i64 72
  store i64 %conv.i89, ptr %detail.i90, align 8, !tbaa !15
  %number.i91 = getelementptr inbounds nuw i8, ptr %c, i64 80
  %20 = load i64, ptr %number.i91, align 8, !tbaa !16
  %arrayidx2.i92 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %20, ptr %arrayidx2.i92, align 8, !tbaa !15
  %conv3.i93 = zext nneg i32 %shr45 to i64
  %arrayidx5.i94 = getelementptr inbounds nuw i8, ptr %0, i64 88
  store i64 %conv3.i93, ptr %arrayidx5.i94, align 8, !tbaa !15
  %arrayidx7.i95 = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 %at, ptr %arrayidx7.i95, align 8, !tbaa !15
  %arrayidx9.i96 = getelementptr inbounds nuw i8, ptr %0, i64 104
  store i64 %bytes, ptr %arrayidx9.i96, align 8, !tbaa !15
  %arrayidx11.i97 = getelementptr inbounds nuw i8, ptr %0, i64 112
  store i64 %conv47, ptr %arrayidx11.i97, align 8, !tbaa !15
  store atomic i64 6, ptr %status.i87 release, align 8
  br label %cleanup

cleanup:                                          ; preds = %if.end.i88, %if.end44, %if.end.i, %if.then, %land.lhs.true36, %if.end13, %if.end
  %retval.0 = phi i32 [ 1, %land.lhs.true36 ], [ 0, %if.end.i ], [ 1, %if.end ], [ 1, %if.end13 ], [ 0, %if.then ], [ 0, %if.end44 ], [ 0, %if.end.i88 ]
  ret i32 %retval.0
}

; Function Attrs: nounwind optsize
define dso_local void @simt_entry(ptr noundef %launch, ptr noundef %worker) local_unnamed_addr #4 {
entry:
  %c = alloca %struct.Context, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %c) #10
  store ptr %launch, ptr %c, align 8, !tbaa !6
  %worker2 = getelementptr inbounds nuw i8, ptr %c, i64 88
  store ptr %worker, ptr %worker2, align 8, !tbaa !57
  %0 = load ptr, ptr %worker, align 8, !tbaa !66
  %shared3 = getelementptr inbounds nuw i8, ptr %c, i64 8
  store ptr %0, ptr %shared3, align 8, !tbaa !56
  %spill = getelementptr inbounds nuw i8, ptr %worker, i64 16
  %1 = load ptr, ptr %spill, align 8, !tbaa !67
  %spill4 = getelementptr inbounds nuw i8, ptr %c, i64 16
  store ptr %1, ptr %spill4, align 8, !tbaa !27
  %params = getelementptr inbounds nuw i8, ptr %launch, i64 48
  %2 = load ptr, ptr %params, align 8, !tbaa !68
  %params5 = getelementptr inbounds nuw i8, ptr %c, i64 24
  store ptr %2, ptr %params5, align 8, !tbaa !69
  %globals = getelementptr inbounds nuw i8, ptr %launch, i64 56
  %3 = load ptr, ptr %globals, align 8, !tbaa !70
  %globals6 = getelementptr inbounds nuw i8, ptr %c, i64 32
  store ptr %3, ptr %globals6, align 8, !tbaa !71
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 16), align 4, !tbaa !72
  %idx.ext = zext i32 %4 to i64
  %add.ptr = getelementptr inbounds nuw i8, ptr %1, i64 %idx.ext
  %state = getelementptr inbounds nuw i8, ptr %c, i64 40
  store ptr %add.ptr, ptr %state, align 8, !tbaa !20
  %grid = getelementptr inbounds nuw i8, ptr %launch, i64 16
  %grid8 = getelementptr inbounds nuw i8, ptr %c, i64 64
  br label %for.body

for.cond11.preheader:                             ; preds = %for.body
  %stop = getelementptr inbounds nuw i8, ptr %launch, i64 120
  %status = getelementptr inbounds nuw i8, ptr %launch, i64 64
  %5 = load atomic i64, ptr %status monotonic, align 8
  %tobool.not61 = icmp eq i64 %5, 0
  br i1 %tobool.not61, label %lor.lhs.false.lr.ph, label %cleanup43

lor.lhs.false.lr.ph:                              ; preds = %for.cond11.preheader
  %blocks = getelementptr inbounds nuw i8, ptr %launch, i64 8
  %number = getelementptr inbounds nuw i8, ptr %c, i64 80
  %block = getelementptr inbounds nuw i8, ptr %c, i64 48
  %arrayidx26 = getelementptr inbounds nuw i8, ptr %c, i64 68
  %arrayidx31 = getelementptr inbounds nuw i8, ptr %c, i64 52
  %arrayidx42 = getelementptr inbounds nuw i8, ptr %c, i64 56
  br label %lor.lhs.false

for.body:                                         ; preds = %entry, %for.body
  %indvars.iv = phi i64 [ 0, %entry ], [ %indvars.iv.next, %for.body ]
  %arrayidx = getelementptr inbounds nuw i32, ptr %grid, i64 %indvars.iv
  %6 = load i32, ptr %arrayidx, align 4, !tbaa !2
  %arrayidx10 = getelementptr inbounds nuw i32, ptr %grid8, i64 %indvars.iv
  store i32 %6, ptr %arrayidx10, align 4, !tbaa !2
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 3
  br i1 %exitcond.not, label %for.cond11.preheader, label %for.body, !llvm.loop !73

lor.lhs.false:                                    ; preds = %lor.lhs.false.lr.ph, %if.end17
  %7 = load atomic i64, ptr %stop monotonic, align 8
  %tobool13.not = icmp eq i64 %7, 0
  br i1 %tobool13.not, label %if.end, label %cleanup43

if.end:                                           ; preds = %lor.lhs.false
  %8 = atomicrmw add ptr %launch, i64 1 monotonic, align 8
  %9 = load i64, ptr %blocks, align 8, !tbaa !74
  %cmp15.not = icmp ult i64 %8, %9
  br i1 %cmp15.not, label %if.end17, label %cleanup43

if.end17:                                         ; preds = %if.end
  store i64 %8, ptr %number, align 8, !tbaa !16
  %10 = load i32, ptr %grid8, align 8, !tbaa !2
  %conv = zext i32 %10 to i64
  %rem = urem i64 %8, %conv
  %conv20 = trunc nuw i64 %rem to i32
  store i32 %conv20, ptr %block, align 8, !tbaa !2
  %div = udiv i64 %8, %conv
  %11 = load i32, ptr %arrayidx26, align 4, !tbaa !2
  %conv27 = zext i32 %11 to i64
  %rem28 = urem i64 %div, %conv27
  %conv29 = trunc nuw i64 %rem28 to i32
  store i32 %conv29, ptr %arrayidx31, align 4, !tbaa !2
  %div39 = udiv i64 %div, %conv27
  %conv40 = trunc i64 %div39 to i32
  store i32 %conv40, ptr %arrayidx42, align 8, !tbaa !2
  call void @simt_block(ptr noundef nonnull %c) #11
  %12 = load atomic i64, ptr %status monotonic, align 8
  %tobool.not = icmp eq i64 %12, 0
  br i1 %tobool.not, label %lor.lhs.false, label %cleanup43

cleanup43:                                        ; preds = %lor.lhs.false, %if.end17, %if.end, %for.cond11.preheader
  call void @llvm.lifetime.end.p0(ptr nonnull %c) #10
  ret void
}

; Function Attrs: optsize
declare void @simt_block(ptr noundef) local_unnamed_addr #6

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.cttz.i64(i64, i1 immarg) #7

; Function Attrs: nounwind optsize
define internal fastcc range(i32 0, 2) i32 @advance(ptr noundef %c, i32 noundef %warp, i32 noundef range(i32 0, 3) %rank, i64 noundef %spun, ptr noundef nonnull captures(none) %spinning) unnamed_addr #4 {
entry:
  %0 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 4), align 4, !tbaa !31
  %mul = mul i32 %0, %warp
  %1 = load i32, ptr @simt_layout, align 4, !tbaa !21
  %sub.i = sub i32 %1, %mul
  %spec.select.i = tail call i32 @llvm.umin.i32(i32 %sub.i, i32 %0)
  %cmp1.i = icmp eq i32 %spec.select.i, 64
  %sh_prom.i = zext nneg i32 %spec.select.i to i64
  %notmask.i = shl nsw i64 -1, %sh_prom.i
  %sub2.i = xor i64 %notmask.i, -1
  %cond.i = select i1 %cmp1.i, i64 -1, i64 %sub2.i
  %tobool.not8.i = icmp eq i64 %cond.i, 0
  br i1 %tobool.not8.i, label %lanes_at.exit, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %entry
  %state1.i = getelementptr inbounds nuw i8, ptr %c, i64 40
  %2 = load ptr, ptr %state1.i, align 8, !tbaa !20
  br label %for.body.i

for.body.i:                                       ; preds = %for.body.i, %for.body.lr.ph.i
  %found.010.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %or.i, %for.body.i ]
  %m.09.i = phi i64 [ %cond.i, %for.body.lr.ph.i ], [ %and.i, %for.body.i ]
  %3 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %m.09.i, i1 true)
  %cast.i = trunc nuw nsw i64 %3 to i32
  %add.i = add i32 %mul, %cast.i
  %idxprom.i = zext i32 %add.i to i64
  %arrayidx.i = getelementptr inbounds nuw i32, ptr %2, i64 %idxprom.i
  %4 = load i32, ptr %arrayidx.i, align 4, !tbaa !2
  %cmp.i = icmp eq i32 %4, 0
  %conv2.i = zext i1 %cmp.i to i64
  %shl.i = shl nuw i64 %conv2.i, %3
  %or.i = or i64 %shl.i, %found.010.i
  %sub.i94 = add i64 %m.09.i, -1
  %and.i = and i64 %sub.i94, %m.09.i
  %tobool.not.i = icmp eq i64 %and.i, 0
  br i1 %tobool.not.i, label %lanes_at.exit.loopexit, label %for.body.i, !llvm.loop !75

lanes_at.exit.loopexit:                           ; preds = %for.body.i
  %5 = xor i64 %or.i, -1
  br label %lanes_at.exit

lanes_at.exit:                                    ; preds = %lanes_at.exit.loopexit, %entry
  %found.0.lcssa.i = phi i64 [ -1, %entry ], [ %5, %lanes_at.exit.loopexit ]
  %and = and i64 %cond.i, %found.0.lcssa.i
  %not2 = xor i64 %spun, -1
  %and3 = and i64 %and, %not2
  %state4 = getelementptr inbounds nuw i8, ptr %c, i64 40
  %cmp = icmp eq i32 %rank, 0
  %cmp21 = icmp eq i32 %rank, 2
  %cmp16 = icmp ne i32 %rank, 1
  %spill.i.i = getelementptr inbounds nuw i8, ptr %c, i64 16
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 44), align 4
  %idx.ext.i.i = zext i32 %6 to i64
  %7 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 40), align 4
  %idx.ext2.i.i = zext i32 %7 to i64
  br label %for.cond

for.cond:                                         ; preds = %if.end42, %lanes_at.exit
  %left.0 = phi i64 [ %and3, %lanes_at.exit ], [ %and11, %if.end42 ]
  %tobool.not = icmp eq i64 %left.0, 0
  br i1 %tobool.not, label %cleanup50, label %for.body.lr.ph.i96

for.body.lr.ph.i96:                               ; preds = %for.cond
  %8 = load ptr, ptr %state4, align 8, !tbaa !20
  %9 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %left.0, i1 true)
  %cast = trunc nuw nsw i64 %9 to i32
  %add = add i32 %mul, %cast
  %idxprom = zext i32 %add to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr %8, i64 %idxprom
  %10 = load i32, ptr %arrayidx, align 4, !tbaa !2
  br label %for.body.i98

for.body.i98:                                     ; preds = %for.body.i98, %for.body.lr.ph.i96
  %found.010.i99 = phi i64 [ 0, %for.body.lr.ph.i96 ], [ %or.i108, %for.body.i98 ]
  %m.09.i100 = phi i64 [ %left.0, %for.body.lr.ph.i96 ], [ %and.i110, %for.body.i98 ]
  %11 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %m.09.i100, i1 true)
  %cast.i101 = trunc nuw nsw i64 %11 to i32
  %add.i102 = add i32 %mul, %cast.i101
  %idxprom.i103 = zext i32 %add.i102 to i64
  %arrayidx.i104 = getelementptr inbounds nuw i32, ptr %8, i64 %idxprom.i103
  %12 = load i32, ptr %arrayidx.i104, align 4, !tbaa !2
  %cmp.i105 = icmp eq i32 %12, %10
  %conv2.i106 = zext i1 %cmp.i105 to i64
  %shl.i107 = shl nuw i64 %conv2.i106, %11
  %or.i108 = or i64 %shl.i107, %found.010.i99
  %sub.i109 = add i64 %m.09.i100, -1
  %and.i110 = and i64 %sub.i109, %m.09.i100
  %tobool.not.i111 = icmp eq i64 %and.i110, 0
  br i1 %tobool.not.i111, label %lanes_at.exit113, label %for.body.i98, !llvm.loop !75

lanes_at.exit113:                                 ; preds = %for.body.i98
  %and5 = and i32 %10, 2147483647
  %idxprom7 = zext nneg i32 %and5 to i64
  %arrayidx8 = getelementptr inbounds nuw %struct.Site, ptr @simt_sites, i64 %idxprom7
  %13 = load i32, ptr %arrayidx8, align 8, !tbaa !25
  %not10 = xor i64 %or.i108, -1
  %and11 = and i64 %left.0, %not10
  %tobool13.not = icmp sgt i32 %10, -1
  br i1 %tobool13.not, label %if.else, label %if.then

if.then:                                          ; preds = %lanes_at.exit113
  %spec.select = select i1 %cmp, i64 %or.i108, i64 0
  br label %if.end42

if.else:                                          ; preds = %lanes_at.exit113
  switch i32 %13, label %if.else24 [
    i32 8, label %if.then15
    i32 9, label %if.then20
  ]

if.then15:                                        ; preds = %if.else
  %tobool.not5.i = icmp eq i64 %or.i108, 0
  %or.cond141 = select i1 %cmp16, i1 true, i1 %tobool.not5.i
  br i1 %or.cond141, label %if.end42, label %for.body.lr.ph.i114

for.body.lr.ph.i114:                              ; preds = %if.then15
  %flags.i.i = getelementptr inbounds nuw i8, ptr %arrayidx8, i64 12
  %14 = load i32, ptr %flags.i.i, align 4, !tbaa !26
  %and.i.i = and i32 %14, 16
  %tobool.not.i.i = icmp eq i32 %and.i.i, 0
  %conv.i.i = trunc i64 %or.i108 to i32
  %15 = load ptr, ptr %spill.i.i, align 8, !tbaa !27
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %15, i64 %idx.ext.i.i
  %add.ptr3.i.i = getelementptr inbounds nuw i8, ptr %15, i64 %idx.ext2.i.i
  br label %for.body.i117

for.body.i117:                                    ; preds = %give.exit.i, %for.body.lr.ph.i114
  %m.06.i = phi i64 [ %or.i108, %for.body.lr.ph.i114 ], [ %and.i121, %give.exit.i ]
  %16 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %m.06.i, i1 true)
  %cast.i118 = trunc nuw nsw i64 %16 to i32
  %add.i119 = add i32 %mul, %cast.i118
  %idxprom4.i.i = zext i32 %add.i119 to i64
  br i1 %tobool.not.i.i, label %if.else.i.i, label %if.then.i.i

if.then.i.i:                                      ; preds = %for.body.i117
  %arrayidx.i.i = getelementptr inbounds nuw i32, ptr %add.ptr.i.i, i64 %idxprom4.i.i
  store i32 %conv.i.i, ptr %arrayidx.i.i, align 4, !tbaa !2
  br label %give.exit.i

if.else.i.i:                                      ; preds = %for.body.i117
  %arrayidx5.i.i = getelementptr inbounds nuw i64, ptr %add.ptr3.i.i, i64 %idxprom4.i.i
  store i64 %or.i108, ptr %arrayidx5.i.i, align 8, !tbaa !15
  br label %give.exit.i

give.exit.i:                                      ; preds = %if.else.i.i, %if.then.i.i
  %sub.i120 = add i64 %m.06.i, -1
  %and.i121 = and i64 %sub.i120, %m.06.i
  %tobool.not.i122 = icmp eq i64 %and.i121, 0
  br i1 %tobool.not.i122, label %if.end42, label %for.body.i117, !llvm.loop !32

if.then20:                                        ; preds = %if.else
  br i1 %cmp21, label %if.then22, label %if.end42

if.then22:                                        ; preds = %if.then20
  %17 = load i64, ptr %spinning, align 8, !tbaa !15
  %or = or i64 %17, %or.i108
  store i64 %or, ptr %spinning, align 8, !tbaa !15
  br label %if.end42

if.else24:                                        ; preds = %if.else
  %cmp25 = icmp ugt i32 %13, 2
  %or.cond = and i1 %cmp, %cmp25
  br i1 %or.cond, label %if.then27, label %if.end42

if.then27:                                        ; preds = %if.else24
  %cmp28 = icmp eq i64 %or.i108, %and
  %cmp31 = icmp eq i64 %or.i108, %cond.i
  %or.cond142 = and i1 %cmp28, %cmp31
  br i1 %or.cond142, label %land.lhs.true32, label %if.else36

land.lhs.true32:                                  ; preds = %if.then27
  %call33 = tail call i32 @simt_warp(ptr noundef nonnull %c, i32 noundef %and5, i32 noundef %warp) #11
  %tobool34.not = icmp eq i32 %call33, 0
  br i1 %tobool34.not, label %if.else36, label %if.end42

if.else36:                                        ; preds = %land.lhs.true32, %if.then27
  %call37 = tail call fastcc i64 @collect(ptr noundef nonnull %c, i32 noundef %and5, i32 noundef %mul, i64 noundef %or.i108, i64 noundef %and) #9
  br label %if.end42

if.end42:                                         ; preds = %give.exit.i, %if.then, %land.lhs.true32, %if.then15, %if.else24, %if.else36, %if.then20, %if.then22
  %ready.0 = phi i64 [ %spec.select, %if.then ], [ %cond.i, %land.lhs.true32 ], [ 0, %if.then15 ], [ %or.i108, %if.then22 ], [ 0, %if.then20 ], [ 0, %if.else24 ], [ %call37, %if.else36 ], [ %or.i108, %give.exit.i ]
  %tobool43.not = icmp eq i64 %ready.0, 0
  br i1 %tobool43.not, label %for.cond, label %if.then44

if.then44:                                        ; preds = %if.end42
  %18 = load i32, ptr getelementptr inbounds nuw (i8, ptr @simt_layout, i64 12), align 4, !tbaa !76
  %tobool1.not.i = icmp eq i32 %18, 0
  br label %while.body.i

while.body.i:                                     ; preds = %if.end.i, %if.then44
  %group.addr.055.i = phi i64 [ %ready.0, %if.then44 ], [ %and36.i, %if.end.i ]
  br i1 %tobool1.not.i, label %if.else.i, label %if.then.i

if.then.i:                                        ; preds = %while.body.i
  %19 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %group.addr.055.i, i1 true)
  %cast.i131 = trunc nuw nsw i64 %19 to i32
  %sub.i132 = sub nuw nsw i32 64, %cast.i131
  %not.i = xor i64 %group.addr.055.i, -1
  %cmp.i133 = icmp eq i64 %19, 0
  %sh_prom.i134 = zext nneg i32 %sub.i132 to i64
  %notmask.i135 = shl nsw i64 -1, %sh_prom.i134
  %sub2.i136 = xor i64 %notmask.i135, -1
  %cond.i137 = select i1 %cmp.i133, i64 -1, i64 %sub2.i136
  %and.i138 = and i64 %cond.i137, %not.i
  %tobool3.not.i = icmp eq i64 %and.i138, 0
  %20 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %and.i138, i1 true)
  %cast5.i = trunc nuw nsw i64 %20 to i32
  %sub6.i = sub nuw nsw i32 64, %cast5.i
  %cond9.i = select i1 %tobool3.not.i, i32 0, i32 %sub6.i
  br label %if.end.i

if.else.i:                                        ; preds = %while.body.i
  %21 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %group.addr.055.i, i1 true)
  %cast10.i = trunc nuw nsw i64 %21 to i32
  %not12.i = xor i64 %group.addr.055.i, -1
  %22 = shl nsw i64 -1, %21
  %shl15.i = and i64 %22, %not12.i
  %23 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %shl15.i, i1 false)
  %cast18.i = trunc nuw nsw i64 %23 to i32
  br label %if.end.i

if.end.i:                                         ; preds = %if.else.i, %if.then.i
  %high.0.i = phi i32 [ %sub.i132, %if.then.i ], [ %cast18.i, %if.else.i ]
  %low.0.i = phi i32 [ %cond9.i, %if.then.i ], [ %cast10.i, %if.else.i ]
  %sub22.i = sub nsw i32 %high.0.i, %low.0.i
  %cmp23.i = icmp eq i32 %sub22.i, 64
  %sh_prom27.i = zext nneg i32 %sub22.i to i64
  %notmask54.i = shl nsw i64 -1, %sh_prom27.i
  %sub29.i = xor i64 %notmask54.i, -1
  %cond31.i = select i1 %cmp23.i, i64 -1, i64 %sub29.i
  %sh_prom32.i = zext nneg i32 %low.0.i to i64
  %shl33.i = shl i64 %cond31.i, %sh_prom32.i
  %add.i139 = add i32 %low.0.i, %mul
  %add34.i = add i32 %high.0.i, %mul
  tail call void @simt_range(ptr noundef %c, i32 noundef range(i32 0, -2147483648) %and5, i32 noundef %add.i139, i32 noundef %add34.i) #11
  %not35.i = xor i64 %shl33.i, -1
  %and36.i = and i64 %group.addr.055.i, %not35.i
  %tobool.not.i140 = icmp eq i64 %and36.i, 0
  br i1 %tobool.not.i140, label %go.exit, label %while.body.i, !llvm.loop !77

go.exit:                                          ; preds = %if.end.i
  br label %cleanup50, !llvm.loop !78

cleanup50:                                        ; preds = %for.cond, %go.exit
  %retval.2 = phi i32 [ 1, %go.exit ], [ 0, %for.cond ]
  ret i32 %retval.2
}

; Function Attrs: optsize
declare i32 @simt_warp(ptr noundef, i32 noundef, i32 noundef) local_unnamed_addr #6

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.ctlz.i64(i64, i1 immarg) #7

; Function Attrs: optsize
declare void @simt_range(ptr noundef, i32 noundef, i32 noundef, i32 noundef) local_unnamed_addr #6

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #8

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umax.i64(i64, i64) #8

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #8

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #8

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umin.i32(i32, i32) #8

attributes #0 = { mustprogress nofree norecurse nounwind optsize willreturn memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+cx8,+mmx,+sse,+sse2,+x87" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nofree norecurse nosync nounwind optsize memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+cx8,+mmx,+sse,+sse2,+x87" }
attributes #3 = { nofree norecurse nounwind optsize memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+cx8,+mmx,+sse,+sse2,+x87" }
attributes #4 = { nounwind optsize "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+cx8,+mmx,+sse,+sse2,+x87" }
attributes #5 = { nofree norecurse nosync nounwind optsize memory(write, argmem: readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+cx8,+mmx,+sse,+sse2,+x87" }
attributes #6 = { optsize "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+cx8,+mmx,+sse,+sse2,+x87" }
attributes #7 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #9 = { nobuiltin optsize "no-builtins" }
attributes #10 = { nounwind }
attributes #11 = { nobuiltin nounwind optsize "no-builtins" }

!llvm.module.flags = !{!0}
!llvm.ident = !{!1}
!llvm.errno.tbaa = !{!2}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{!"clang version 22.1.8"}
!2 = !{!3, !3, i64 0}
!3 = !{!"int", !4, i64 0}
!4 = !{!"omnipotent char", !5, i64 0}
!5 = !{!"Simple C/C++ TBAA"}
!6 = !{!7, !8, i64 0}
!7 = !{!"Context", !8, i64 0, !9, i64 8, !10, i64 16, !11, i64 24, !11, i64 32, !12, i64 40, !4, i64 48, !4, i64 64, !13, i64 80, !14, i64 88}
!8 = !{!"p1 _ZTS6Launch", !9, i64 0}
!9 = !{!"any pointer", !4, i64 0}
!10 = !{!"p1 omnipotent char", !9, i64 0}
!11 = !{!"any p2 pointer", !9, i64 0}
!12 = !{!"p1 int", !9, i64 0}
!13 = !{!"long long", !4, i64 0}
!14 = !{!"p1 _ZTS6Worker", !9, i64 0}
!15 = !{!13, !13, i64 0}
!16 = !{!7, !13, i64 80}
!17 = !{!"branch_weights", !"expected", i32 2000, i32 1}
!18 = !{!19, !3, i64 4}
!19 = !{!"Site", !3, i64 0, !3, i64 4, !3, i64 8, !3, i64 12, !3, i64 16, !3, i64 20, !13, i64 24}
!20 = !{!7, !12, i64 40}
!21 = !{!22, !3, i64 0}
!22 = !{!"Layout", !3, i64 0, !3, i64 4, !3, i64 8, !3, i64 12, !3, i64 16, !3, i64 20, !3, i64 24, !3, i64 28, !3, i64 32, !3, i64 36, !3, i64 40, !3, i64 44}
!23 = distinct !{!23, !24}
!24 = !{!"llvm.loop.mustprogress"}
!25 = !{!19, !3, i64 0}
!26 = !{!19, !3, i64 12}
!27 = !{!7, !10, i64 16}
!28 = distinct !{!28, !24}
!29 = distinct !{!29, !24}
!30 = !{!22, !3, i64 8}
!31 = !{!22, !3, i64 4}
!32 = distinct !{!32, !24}
!33 = distinct !{!33, !24}
!34 = distinct !{!34, !24}
!35 = distinct !{!35, !24}
!36 = !{!19, !3, i64 8}
!37 = distinct !{!37, !24}
!38 = distinct !{!38, !24}
!39 = distinct !{!39, !24}
!40 = distinct !{!40, !24}
!41 = distinct !{!41, !24}
!42 = distinct !{!42, !24}
!43 = distinct !{!43, !24}
!44 = distinct !{!44, !24}
!45 = distinct !{!45, !24}
!46 = distinct !{!46, !24}
!47 = distinct !{!47, !24}
!48 = distinct !{!48, !24}
!49 = distinct !{!49, !24}
!50 = !{!51, !52, i64 128}
!51 = !{!"Launch", !13, i64 0, !13, i64 8, !4, i64 16, !4, i64 28, !13, i64 40, !11, i64 48, !11, i64 56, !13, i64 64, !4, i64 72, !13, i64 120, !52, i64 128}
!52 = !{!"p1 _ZTS5Hooks", !9, i64 0}
!53 = !{!54, !13, i64 0}
!54 = !{!"Hooks", !13, i64 0, !55, i64 8, !9, i64 16}
!55 = !{!"p1 _ZTS5Range", !9, i64 0}
!56 = !{!7, !9, i64 8}
!57 = !{!7, !14, i64 88}
!58 = !{!59, !13, i64 8}
!59 = !{!"Worker", !9, i64 0, !13, i64 8, !10, i64 16, !13, i64 24, !9, i64 32, !13, i64 40, !13, i64 48}
!60 = !{!59, !13, i64 24}
!61 = !{!54, !55, i64 8}
!62 = !{!63, !13, i64 8}
!63 = !{!"Range", !13, i64 0, !13, i64 8}
!64 = distinct !{!64, !24}
!65 = !{!63, !13, i64 0}
!66 = !{!59, !9, i64 0}
!67 = !{!59, !10, i64 16}
!68 = !{!51, !11, i64 48}
!69 = !{!7, !11, i64 24}
!70 = !{!51, !11, i64 56}
!71 = !{!7, !11, i64 32}
!72 = !{!22, !3, i64 16}
!73 = distinct !{!73, !24}
!74 = !{!51, !13, i64 8}
!75 = distinct !{!75, !24}
!76 = !{!22, !3, i64 12}
!77 = distinct !{!77, !24}
!78 = distinct !{!78, !24}
